import SatchelCore
import FoundationEssentials
import Payloads

/// Pieces that pages are made of.
enum Element {
    // MARK: Words and figures

    /// A state by its word and a shape, for whoever doesn't see its colour.
    static func state(_ state: String?) -> HTMLText {
        let state = state ?? "unknown"
        let shape =
            switch state {
            case "pending", "waiting", "open", "preparing": "○"
            case "running": "◐"
            case "delivered", "ready", "done", "complete": "✓"
            case "failed", "missed": "✕"
            case "partial": "◑"
            default: "–"
            }
        return "<span class=\"state \(state)\"><span aria-hidden=\"true\">\(shape)</span> \(state)</span>"
    }

    /// An instant in UTC, as the API writes it, to the second.
    static func time(_ text: String?) -> HTMLText {
        guard let text else { return "–" }
        let shown = String(text.prefix(19).replacing("T", with: " "))
        return "<time datetime=\"\(text)\">\(shown)</time>"
    }

    /// How long ago, or in how long.
    static func age(_ text: String?, at now: Instant) -> HTMLText {
        guard let text, let instant = Instant(text) else { return "–" }
        let milliseconds = now.milliseconds - instant.milliseconds
        let seconds = Double(abs(milliseconds)) / 1000
        let words = seconds < 10 ? "\(Int(seconds)) s" : span(seconds)
        let full = String(text.prefix(19).replacing("T", with: " "))
        return """
            <time datetime="\(text)" title="\(full) UTC">\(milliseconds >= 0 ? "\(words) ago" : "in \(words)")</time>
            """
    }

    /// Seconds as people say them: `4 min`, `0.12 s`.
    static func span(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.1: "\(Int((seconds * 1000).rounded())) ms"
        case ..<10: "\(PlainValue.number((seconds * 100).rounded() / 100).text) s"
        case ..<100: "\(Int(seconds.rounded())) s"
        case ..<6000: "\(Int((seconds / 60).rounded())) min"
        case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
        default: "\(Int((seconds / 86_400).rounded())) d"
        }
    }

    /// Bytes to three digits: `184 kB`.
    static func bytes(_ count: Double) -> String {
        var value = count
        var unit = 0
        let units = ["B", "kB", "MB", "GB", "TB"]
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let digits = value < 10 && unit > 0 ? (value * 10).rounded() / 10 : value.rounded()
        return "\(PlainValue.number(digits).text) \(units[unit])"
    }

    static func bytes(_ value: JSONValue?) -> String { value?.number.map { bytes($0) } ?? "–" }

    /// `4032 × 3024`, `12 s`, or both.
    static func extent(_ value: JSONValue?) -> String {
        let size = value?["width"]?.number.flatMap { width in
            value?["height"]?.number.map { "\(Int(width)) × \(Int($0))" }
        }
        let duration = value?["duration"]?.number.map { span($0) }
        return [size, duration].compactMap(\.self).joined(separator: ", ")
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Somebody's text: shown as it is, in its own direction.
    static func text(_ text: String?) -> HTMLText {
        guard let text, !text.isEmpty else { return "–" }
        return "\(isolated: text.showingInvisible())"
    }

    // MARK: Parts

    /// A table that becomes a list of cards where there is little room.
    static func table(_ caption: String, _ columns: [String], _ rows: [[HTMLText]], id: String) -> HTMLText {
        let heads = columns.map { HTMLText("<th scope=\"col\">\($0)</th>") }
        let lines = rows.map { cells -> HTMLText in
            let cells = zip(columns, cells).map { HTMLText("<td data-name=\"\($0)\"><div>\($1)</div></td>") }
            return "<tr>\(cells)</tr>\n"
        }
        return """
            <table class="list" id="\(id)"><caption class="hidden">\(caption)</caption>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(lines)</tbody></table>
            """
    }

    /// Names and values, without those that have none.
    static func facts(_ facts: [(String, HTMLText)]) -> HTMLText {
        let pairs = facts.filter { !["", "–"].contains($0.1.description) }.map {
            HTMLText("<div><dt>\($0)</dt><dd>\($1)</dd></div>\n")
        }
        return "<dl class=\"facts\">\n\(pairs)</dl>"
    }

    /// A form of one button.
    static func button(_ label: String, _ path: String, kind: String = "", _ fields: [(String, String)] = [])
        -> HTMLText
    {
        let inputs = fields.map { HTMLText("<input type=\"hidden\" name=\"\($0)\" value=\"\($1)\">") }
        return """
            <form method="post" action="\(path)">\(inputs)<button class="\(kind)">\(label)</button></form>
            """
    }

    /// A button that asks first.
    ///
    /// - Parameters:
    ///   - name: The question's, in the query.
    ///   - back: The page, on which the link `no` leaves everything as it is.
    static func ask(
        _ visit: ConsoleVisit, _ name: String, _ label: String, _ sure: String, _ path: String, back: String,
        no: String = "Cancel"
    ) -> HTMLText {
        guard visit.query["confirm"] == name else {
            return "<a class=\"button\" href=\"\(back)?confirm=\(name)\">\(label)</a>"
        }
        return "\(button(sure, path, kind: "danger"))<a class=\"button\" href=\"\(back)\">\(no)</a>"
    }

    static func json(_ title: String, _ value: JSONValue) -> HTMLText {
        """
        <details id="json"><summary>\(title)</summary><pre tabindex="0">\(value.laidOut(width: 84).escapingInvisible())</pre></details>
        """
    }

    /// What a list shows if it has no entries.
    static func empty(_ noun: String, _ path: String, _ visit: ConsoleVisit) -> HTMLText {
        visit.query.isEmpty
            ? "<p class=\"empty\">No \(noun) yet.</p>"
            : "<p class=\"empty\">No \(noun) match these filters. <a href=\"\(path)\">Clear filters</a></p>"
    }

    /// The link to the next part of a list.
    static func more(_ visit: ConsoleVisit, _ path: String, _ filters: [String], _ next: JSONValue?) -> HTMLText {
        var links: [HTMLText] = []
        let kept = filters.map { ($0, visit.filter($0)) }
        if visit.filter("cursor") != nil {
            links.append("<a href=\"\(visit.url(path, kept))\">Newest</a>")
        }
        if let next = next?.text {
            links.append("<a rel=\"next\" href=\"\(visit.url(path, kept + [("cursor", next)]))\">Older</a>")
        }
        guard !links.isEmpty else { return "" }
        return "<nav class=\"more\" aria-label=\"Pages\">\(links)</nav>"
    }

    /// A form that narrows a list, in the URL.
    static func filters(_ path: String, _ fields: [HTMLText]) -> HTMLText {
        """
        <form class="filters" method="get" action="\(path)" role="search" aria-label="Filter">
        \(fields)<button>Show</button>
        </form>
        """
    }

    static func choice(_ visit: ConsoleVisit, _ name: String, _ label: String, _ values: [String]) -> HTMLText {
        let chosen = visit.filter(name)
        let options = values.map { value -> HTMLText in
            "<option\(value == chosen ? HTMLText(" selected") : "")>\(value)</option>"
        }
        return """
            <label>\(label) <select name="\(name)"><option value="">any</option>\(options)</select></label>

            """
    }

    static func field(_ visit: ConsoleVisit, _ name: String, _ label: String, example: String) -> HTMLText {
        """
        <label>\(label) <input name="\(name)" value="\(visit.filter(name) ?? "")" placeholder="\(example)" \
        autocomplete="off" spellcheck="false"></label>

        """
    }

    // MARK: Errors

    /// The field of the request that is wrong, if it is known.
    static func fields(of problem: Problem) -> HTMLText {
        let fields = problem.errors.map { field -> HTMLText in
            "<li><code>\(field.pointer)</code> \(field.detail.showingInvisible())</li>\n"
        }
        return fields.isEmpty ? "" : "<ul>\n\(fields)</ul>"
    }

    /// Why what a form sent can't be taken; nothing where it can.
    static func alert(_ problem: Problem?, id: String) -> HTMLText {
        problem.map { problem in
            """
            <div class="problem" role="alert" id="\(id)"><p>\(problem.detail.showingInvisible())</p>\
            \(fields(of: problem))</div>
            """
        } ?? ""
    }

    /// Why something failed, and what to do about it.
    static func error(_ error: JSONValue?) -> HTMLText {
        guard let error, let code = error["code"]?.text else { return "" }
        let hint: HTMLText =
            error["retryable"]?.boolean == true
            ? "<p>Retrying can help.</p>"
            : "<p>Retrying won't help unless the file at the URL has changed.</p>"
        return """
            <div class="problem"><p><strong><code>\(code)</code></strong></p>
            <p>\(text(error["message"]?.text))</p>\(error["retryable"] == nil ? "" : hint)</div>
            """
    }
}
