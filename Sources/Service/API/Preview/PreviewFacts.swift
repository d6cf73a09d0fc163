import SatchelCore
import Payloads

/// What is known of a notification beside its look.
struct PreviewFacts {
    private let preview: NotificationPreview
    private let facts: NotificationFacts

    init(preview: NotificationPreview) {
        self.preview = preview
        facts = preview.facts
    }

    var html: HTMLText {
        """
        <section aria-labelledby="warnings-heading" class="warnings">
        <h2 id="warnings-heading">Warnings</h2>
        \(warnings)
        </section>
        <section aria-labelledby="facts-heading" class="facts">
        <h2 id="facts-heading">Facts</h2>
        <table><caption>Payload</caption><tbody>
        \(rows(payload))</tbody></table>
        \(zip(preview.media, facts.media).map { medium($0, $1) })
        </section>
        <section aria-labelledby="responses-heading" class="responses">
        <h2 id="responses-heading">Responses</h2>
        <p id="no-responses">None yet. Use the opened notification: its actions are listed here, with their results.</p>
        <ol id="responses"></ol>
        </section>
        <section aria-labelledby="json-heading" class="json">
        <h2 id="json-heading">JSON</h2>
        \(json("Payload", preview.document))
        \(preview.category.map { json("Category", JSONValue(encoding: $0)) } ?? "")
        </section>
        """
    }

    private var warnings: HTMLText {
        let warnings = facts.warnings
        guard !warnings.isEmpty else { return "<p>None.</p>" }
        let items = warnings.map { warning -> HTMLText in
            "<li><code>\(warning.code.rawValue)</code> \(warning.detail.showingInvisible())</li>\n"
        }
        return "<ul>\n\(items)</ul>"
    }

    private typealias Row = (name: String, value: HTMLText)

    private var payload: [Row] {
        let dropped = preview.dropped.joined(separator: ", ")
        let reading = preview.reading
        let size = reading?.size ?? preview.payload.count
        return [
            ("Sent to", "\(preview.format.service)"),
            ("Bytes", "\(Self.count(Int64(size))) of \(Self.count(Int64(facts.payloadLimit)))\(parts(reading))"),
            ("Removed for size", dropped.isEmpty ? "nothing" : "\(dropped.showingInvisible())"),
            ("Category", "\((facts.categoryID ?? "none").showingInvisible())"),
            ("Links expire", "\(preview.linksEnd?.description ?? "no links")"),
        ]
    }

    /// What is counted, where it isn't the whole.
    private func parts(_ reading: PushPayload?) -> String {
        guard let reading, reading.size != preview.payload.count else { return "" }
        return reading.messageCount > 1
            ? " (the longest of \(reading.messageCount) messages, without recipients)" : " (without recipients)"
    }

    /// Where the payload names a medium, and what is shown there.
    private func places(of medium: EnrichedMedium, _ delivered: DeliveredMedium) -> [Row] {
        let files = [(delivered.url, delivered.type)] + delivered.standIns.map { ($0.url, $0.type) }
        var rows: [Row] = []
        for place in preview.reading?.places ?? [] {
            guard let type = files.first(where: { $0.0 == place.url })?.1 else { continue }
            let limit = place.limit.map { " up to \(Self.count($0)) bytes" } ?? ""
            let viewer = place.viewer.map { "; here \($0) shows only pictures\(limit)" } ?? ""
            rows.append(("At \(place.pointer)".showingInvisible(), "\(type.rawValue)\(viewer)"))
        }
        if let unfit = medium.unfit {
            rows.append(("Not shown", "<code>\(unfit.code)</code> \(unfit.message.showingInvisible())"))
        }
        return rows
    }

    private func medium(_ medium: EnrichedMedium, _ fact: NotificationFacts.Medium) -> HTMLText {
        let steps = (medium.record?.steps ?? []).map { step -> HTMLText in
            let note = step.note.map { ": \($0.showingInvisible())" } ?? ""
            return "<li>\(step.name), \(step.seconds) s\(note)</li>\n"
        }
        let stepped: HTMLText =
            steps.isEmpty ? "" : "<details><summary>Steps</summary><ol>\n\(steps)</ol></details>"
        return """
            <table><caption>\(medium.identifier.showingInvisible())</caption><tbody>
            \(rows(self.rows(of: medium, fact)))</tbody></table>
            \(stepped)
            """
    }

    private func rows(of medium: EnrichedMedium, _ fact: NotificationFacts.Medium) -> [Row] {
        switch medium.outcome {
        case .failure(let failure):
            return [
                ("Failed", "<code>\(failure.code)</code> \(failure.message.showingInvisible())"),
                ("Source", "\(medium.record?.source.name?.showingInvisible() ?? "–")"),
            ]
        case .success(let delivered):
            let rendition = medium.record.flatMap { record in record.best.flatMap { record.renditions[$0] } }
            let seconds = Self.megabits.map { "\(Self.seconds(delivered.bytes, $0)) s at \($0)" }
            let decoded = fact.decodedBytes.map {
                "\(Self.count($0)) of about \(Self.count(NotificationFacts.extensionMemory)) available to a service extension"
            }
            return [
                ("Type", "\(delivered.type.rawValue)"),
                ("Bytes", "\(Self.count(delivered.bytes))"),
                ("Pixels", "\(fact.size.map { "\($0.width) × \($0.height)" } ?? "–")"),
                ("Duration", "\(rendition?.duration.map { "\(Self.hundredths($0)) s" } ?? "–")"),
                ("Result", "\(medium.record?.result ?? "–")"),
                ("Download", "\(seconds.joined(separator: ", ")) Mbit/s"),
                ("Decoded bytes", "\(decoded ?? "–")"),
            ].filter { $0.1.description != "–" } + places(of: medium, delivered)
        }
    }

    private func rows(_ rows: [Row]) -> HTMLText {
        let rows = rows.map { HTMLText("<tr><th scope=\"row\">\($0.name)</th><td>\($0.value)</td></tr>\n") }
        return "\(rows)"
    }

    /// Of a mobile network that is bad, usual, good.
    private static let megabits = [1, 10, 50]

    /// Seconds that so many bytes take, to the hundredth.
    static func seconds(_ bytes: Int64, _ megabits: Int) -> String {
        hundredths(Double(bytes) * 8 / Double(megabits) / 1e6)
    }

    private static func hundredths(_ number: Double) -> String {
        PlainValue.number((number * 100).rounded() / 100).text
    }

    /// With commas between thousands.
    static func count(_ number: Int64) -> String {
        var groups: [String] = []
        var digits = String(number)[...]
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits = digits.dropLast(3)
        }
        return ([String(digits)] + groups).joined(separator: ",")
    }

    private func json(_ name: String, _ value: JSONValue) -> HTMLText {
        "<details><summary>\(name)</summary><pre>\(value.laidOut(width: 72).escapingInvisible())</pre></details>"
    }
}
