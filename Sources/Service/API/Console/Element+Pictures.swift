import SatchelCore
import Payloads

/// What of an attachment can be looked at.
extension Element {
    /// The path of a rendition for whoever is signed in: no lease, and nothing is counted.
    static func mediaPath(_ attachment: String, _ role: String) -> String {
        "/console/media/\(ConsoleAPI.encoded(attachment))/\(ConsoleAPI.encoded(role))"
    }

    /// A small picture, over what stands in for it until it is there.
    static func thumbnail(_ attachment: JSONValue) -> HTMLText {
        let roles = ["thumbnail", "poster", "waveform", "main"]
        let renditions = attachment["renditions"]
        let role = roles.first { name in
            guard let rendition = renditions?[name], !isEncrypted(rendition) else { return false }
            return rendition["media_type"]?.text?.hasPrefix("image/") ?? false
        }
        let placeholder = placeholder(attachment["placeholder"])
        guard let id = attachment["id"]?.text, let role else {
            return
                "<span class=\"picture none\" aria-hidden=\"true\">\(placeholder)<span>\(letters(attachment))</span></span>"
        }
        return """
            <span class="picture">\(placeholder)<img class="there" src="\(mediaPath(id, role))" alt="" loading="lazy"></span>
            """
    }

    /// Whether a browser can't show it.
    private static func isEncrypted(_ rendition: JSONValue) -> Bool { rendition["encryption"]?.isObject ?? false }

    /// What kind of file it is, by its name.
    private static func letters(_ attachment: JSONValue) -> String {
        let parts = attachment["source"]?["name"]?.text?.split(separator: ".") ?? []
        guard parts.count > 1, let end = parts.last, (1...4).contains(end.utf8.count),
            end.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "z") ~= $0 })
        else { return "?" }
        return end.uppercased()
    }

    /// What a medium looks like before it is there: its ThumbHash, else its colour.
    static func placeholder(_ placeholder: JSONValue?) -> HTMLText {
        let source =
            placeholder?["thumbhash"]?.text.flatMap { PlaceholderPicture(thumbHash: $0)?.dataURL }
            ?? placeholder?["color"]?.text.flatMap { PlaceholderPicture(color: $0)?.dataURL }
        guard let source else { return "" }
        return "<img class=\"before\" src=\"\(source)\" alt=\"\">"
    }

    /// A rendition, playing.
    static func player(_ attachment: JSONValue, _ role: String, _ rendition: JSONValue, source: String? = nil)
        -> HTMLText
    {
        guard let id = attachment["id"]?.text, let type = rendition["media_type"]?.text else { return "" }
        guard !isEncrypted(rendition) else {
            return """
                <span class="picture">\(placeholder(attachment["placeholder"]))</span>\
                <p>The \(role) is encrypted and cannot be shown here. Its key is in the record.</p>
                """
        }
        let path = source ?? mediaPath(id, role)
        let name = "\(role) of \((attachment["identifier"]?.text ?? id).showingInvisible())"
        let size: HTMLText =
            rendition["width"]?.number.flatMap { width in
                rendition["height"]?.number.map { " width=\"\(Int(width))\" height=\"\(Int($0))\"" }
            } ?? ""
        let poster = ["poster", "thumbnail"].first { attachment["renditions"]?[$0] != nil }
        switch type.prefix(while: { $0 != "/" }) {
        case "audio": return "<audio controls preload=\"none\" src=\"\(path)\" aria-label=\"\(name)\"></audio>"
        case "video":
            let still: HTMLText = poster.map { " poster=\"\(mediaPath(id, $0))\"" } ?? ""
            return """
                <video controls playsinline preload="metadata" src="\(path)"\(still)\(size) aria-label="\(name)"></video>
                """
        default:
            let picture: HTMLText = "<img class=\"there\" src=\"\(path)\"\(size) alt=\"\(name)\" loading=\"lazy\">"
            let isMoving = attachment["kind"]?.text == "animation" && role == "main"
            guard isMoving, let poster else {
                return "<span class=\"picture\">\(placeholder(attachment["placeholder"]))\(picture)</span>"
            }
            // For who wants no motion it begins when it is asked to.
            return """
                <picture><source srcset="\(mediaPath(id, poster))" media="(prefers-reduced-motion: reduce)">\(picture)\
                </picture><button type="button" class="play" data-play hidden>Play</button>
                """
        }
    }

    /// Source and renditions as bars of the same scale.
    static func bytesPlot(_ attachment: JSONValue) -> HTMLText {
        var bars: [(name: String, bytes: Double)] = []
        if let bytes = attachment["source"]?["bytes"]?.number { bars.append(("source", bytes)) }
        for member in attachment["renditions"]?.members ?? [] {
            if let bytes = member.value["bytes"]?.number { bars.append((member.key, bytes)) }
        }
        guard bars.count > 1, let most = bars.map(\.bytes).max(), most > 0 else { return "" }
        let lines = bars.enumerated().map { index, bar -> HTMLText in
            let width = max(bar.bytes / most * 100, 0.5)
            let kind: HTMLText = bar.name == "source" ? "bar-before" : "bar-after"
            return """
                <rect class="\(kind)" x="0" y="\(index * 24 + 5)" width="\(rounded(width))" height="14"></rect>
                """
        }
        let names = bars.map { HTMLText("<li><span>\($0.name)</span> <span>\(bytes($0.bytes))</span></li>\n") }
        return """
            <div class="plot bytes"><ul>\(names)</ul>
            <svg viewBox="0 0 100 \(bars.count * 24)" height="\(bars.count * 24)" preserveAspectRatio="none" aria-hidden="true">\(lines)</svg></div>
            """
    }

    /// Steps one after the other, as long as they took; each has its note below.
    static func timeline(_ steps: [JSONValue]) -> HTMLText {
        let seconds = steps.map { max($0["seconds"]?.number ?? 0, 0) }
        let whole = max(seconds.reduce(0, +), 0.001)
        var start = 0.0
        var bars: [HTMLText] = []
        for (index, length) in seconds.enumerated() {
            bars.append(
                """
                <rect class="step-\(index % 4)" x="\(rounded(start / whole * 1000))" y="\(index * 24 + 5)" \
                width="\(rounded(max(length / whole * 1000, 3)))" height="14"></rect>
                """)
            start += length
        }
        let items = steps.map { step -> HTMLText in
            let note = step["note"]?.text.map { HTMLText(" <span class=\"faint\">\(text($0))</span>") } ?? ""
            return """
                <li><strong>\(step["name"]?.text ?? "")</strong> \(span(step["seconds"]?.number ?? 0))\(note)</li>

                """
        }
        guard !steps.isEmpty else { return "" }
        return """
            <figure class="timeline"><figcaption>Steps, \(span(whole)) in total</figcaption>
            <svg viewBox="0 0 1003 \(steps.count * 24)" height="\(steps.count * 24)" preserveAspectRatio="none" aria-hidden="true">\(bars)</svg>
            <ol>
            \(items)</ol></figure>
            """
    }

    private static func rounded(_ number: Double) -> String {
        PlainValue.number((number * 10).rounded() / 10).text
    }
}
