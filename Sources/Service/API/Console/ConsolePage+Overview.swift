import SatchelCore
import Payloads

/// How things are, and where to look.
extension ConsolePage {
    static let overview = ConsolePage(path: "/console", section: .overview, needs: .overview) { visit in
        let figures = try await visit.api.get(.overview)
        let hour = figures["hour"]
        let failed = Int(hour?["failed"]?.number ?? 0)
        return ConsoleContent(
            title: "Overview",
            html: """
                <h1>Overview</h1>
                \(health(figures["service"]))
                <ul class="tiles">
                \(tiles(figures, failed: failed))</ul>
                \(minutes(figures["minutes"]?.elements ?? []))
                \(codes(figures["codes"]))
                \(service(figures["service"]))
                """,
            says: failed == 0 ? "" : "\(Element.count(failed, "failure")) in the last hour.")
    }

    private static func number(_ value: JSONValue?) -> String { "\(Int(value?.number ?? 0))" }

    private static func span(_ value: JSONValue?) -> String { value?.number.map(Element.span) ?? "–" }

    // MARK: Health

    private static func health(_ service: JSONValue?) -> HTMLText {
        guard let service, !service.isNull else { return "" }
        let bad = (service["checks"]?.elements ?? []).filter { $0["ready"]?.boolean == false }
        guard !bad.isEmpty else { return "<p class=\"note\"><span aria-hidden=\"true\">✓</span> All checks pass.</p>" }
        let items = bad.map { check -> HTMLText in
            """
            <li><strong>\(check["name"]?.text ?? "")</strong>: \(Element.text(check["detail"]?.text)) \
            \(check["advice"]?.text.map { HTMLText("<br>\(Element.text($0))") } ?? "")</li>

            """
        }
        return """
            <section class="problem" aria-labelledby="health"><h2 id="health">\
            <span aria-hidden="true">✕</span> Problems</h2><ul>
            \(items)</ul></section>
            """
    }

    // MARK: Figures

    private static func tiles(_ figures: JSONValue, failed: Int) -> [HTMLText] {
        let hour = figures["hour"]
        let calls = figures["calls"]
        let stored = figures["stored_bytes"]
        let isFailing = (calls?["failing"]?.number ?? 0) + (calls?["failed"]?.number ?? 0) > 0
        let quota = stored?["quota"]?.number.map { " of \(Element.bytes($0))" } ?? ""
        return [
            tile("Delivered in the last hour", number(hour?["delivered"]), "/console/jobs?state=delivered"),
            tile("Failed in the last hour", "\(failed)", "/console/failures?span=1h", isBad: failed > 0),
            tile("Unfinished jobs", number(figures["unfinished_jobs"]?["used"]), "/console/jobs?state=pending"),
            tile(
                "Waiting time, p50 · p95", "\(span(hour?["waiting"]?["p50"])) · \(span(hour?["waiting"]?["p95"]))", nil),
            tile("Processing time, p50 · p95", "\(span(hour?["work"]?["p50"])) · \(span(hour?["work"]?["p95"]))", nil),
            tile("Stored", "\(Element.bytes(stored?["used"]))\(quota)", "/console/attachments"),
            tile(
                "Leases, links, grants",
                "\(number(figures["leases"]?["used"])) · \(number(figures["links"])) · \(number(figures["grants"]))",
                nil),
            tile("Firing within an hour", number(figures["notifications_due"]), "/console/notifications"),
            tile(
                "Calls retrying, failed", "\(number(calls?["failing"])) · \(number(calls?["failed"]))",
                "/console/calls", isBad: isFailing),
        ]
    }

    private static func tile(_ name: String, _ value: String, _ path: String?, isBad: Bool = false) -> HTMLText {
        let shape: HTMLText = isBad ? "<span aria-hidden=\"true\">✕</span> " : ""
        let content: HTMLText = "<span class=\"name\">\(name)</span> <span class=\"value\">\(shape)\(value)</span>"
        let kind: HTMLText = isBad ? " class=\"bad\"" : ""
        return path.map { "<li\(kind)><a href=\"\($0)\">\(content)</a></li>\n" }
            ?? "<li\(kind)><div>\(content)</div></li>\n"
    }

    // MARK: An hour

    /// Bars of what ended in each minute, and the same as a table behind.
    private static func minutes(_ minutes: [JSONValue]) -> HTMLText {
        let states = ["delivered", "failed", "cancelled"]
        let counts = minutes.map { minute in states.map { minute[$0]?.number ?? 0 } }
        let most = max(counts.map { $0.reduce(0, +) }.max() ?? 0, 1)
        var bars: [HTMLText] = []
        for (index, column) in counts.enumerated() {
            var below = 0.0
            for (state, count) in zip(states, column) where count > 0 {
                let height = count / most * 100
                bars.append(
                    """
                    <rect class="end-\(state)" x="\(index * 10 + 1)" y="\(tenth(100 - below - height))" width="8" \
                    height="\(tenth(height))"></rect>
                    """)
                below += height
            }
        }
        let rows = zip(minutes, counts).filter { $0.1.contains { $0 > 0 } }.reversed().map { minute, counts in
            [HTMLText("\(String((minute["at"]?.text ?? "").dropFirst(11).prefix(5)))")]
                + counts.map { HTMLText("\(Int($0))") }
                + [HTMLText("\(span(minute["waiting"]?["p95"]))"), HTMLText("\(span(minute["work"]?["p95"]))")]
        }
        let table: HTMLText =
            rows.isEmpty
            ? ""
            : """
            <details id="minutes-table"><summary>Show as table</summary>\(Element.table(
                "Attachments finished in the last hour, by minute (UTC)",
                ["Minute", "Delivered", "Failed", "Cancelled", "Waiting time p95", "Processing time p95"], rows, id: "ends"))</details>
            """
        let times = [0, 15, 30, 45, 59].compactMap { minutes.indices.contains($0) ? minutes[$0]["at"]?.text : nil }
            .map { HTMLText("<span>\(String($0.dropFirst(11).prefix(5)))</span>") }
        return """
            <section aria-labelledby="hour"><h2 id="hour">The last hour, by minute</h2>
            <p class="legend"><span class="key delivered">■ delivered</span> <span class="key failed">▲ failed</span> \
            <span class="key cancelled">– cancelled</span> <span class="faint">at most \(Int(most)) a minute</span></p>
            <svg class="hour" viewBox="0 0 600 100" height="140" preserveAspectRatio="none" aria-hidden="true">\(bars)</svg>
            <p class="axis" aria-hidden="true">\(times)</p>
            \(table)</section>
            """
    }

    private static func tenth(_ number: Double) -> String { PlainValue.number((number * 10).rounded() / 10).text }

    private static func codes(_ codes: JSONValue?) -> HTMLText {
        let codes = (codes?.members ?? []).map { ($0.key, Int($0.value.number ?? 0)) }.sorted { $0.1 > $1.1 }
        guard !codes.isEmpty else { return "" }
        let items = codes.map { code, count -> HTMLText in
            "<li><a href=\"/console/failures?span=1h#failure-\(code)\"><code>\(code)</code></a> \(count)</li>\n"
        }
        return """
            <section aria-labelledby="codes"><h2 id="codes">Failures in the last hour</h2><ul class="codes">
            \(items)</ul></section>
            """
    }

    // MARK: The whole service

    private static func service(_ service: JSONValue?) -> HTMLText {
        guard let service, !service.isNull else { return "" }
        let lanes = (service["lanes"]?.elements ?? []).map { lane -> [HTMLText] in
            [
                "\(lane["lane"]?.text ?? "")", "\(number(lane["pending"]))", "\(number(lane["running"]))",
                "\(span(lane["oldest"]))",
            ]
        }
        let deaths = (service["codec_deaths"]?.members ?? []).filter { ($0.value.number ?? 0) > 0 }
            .map { "\($0.key) \(number($0.value))" }
        return """
            <section aria-labelledby="service"><h2 id="service">Whole service</h2>
            \(Element.table("Queues", ["Lane", "Waiting", "Running", "Oldest"], lanes, id: "lanes"))
            \(Element.facts([
                ("Free disk space", "\(Element.bytes(service["free_bytes"]))"),
                ("Stored in total", "\(Element.bytes(service["blob_bytes"]))"),
                ("Leases, links, grants", "\(number(service["leases"])) · \(number(service["links"])) · \(number(service["grants"]))"),
                ("Waiting calls", "\(number(service["calls_pending"]))"),
                ("Codec process deaths", deaths.isEmpty ? "none" : "\(deaths.joined(separator: ", "))"),
            ]))</section>
            """
    }
}
