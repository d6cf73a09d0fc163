import SatchelCore
import Payloads

/// Why things failed, what to do, and doing it: where an operator goes first.
extension ConsolePage {
    /// What is looked at, by how far back.
    private static let failureSpans: [(name: String, label: String, seconds: Double?)] = [
        ("1h", "Last hour", 3600), ("24h", "Last day", 86_400), ("7d", "Last week", 604_800), ("all", "All", nil),
    ]

    static let failures = ConsolePage(path: "/console/failures", section: .failures, needs: .failures) { visit in
        let span = failureSpan(visit)
        let answer = try await visit.api.get(
            .failures, query: [("since", since(span, visit)), ("code", visit.filter("code"))])
        let groups = answer["groups"]?.elements ?? []
        var cards: [HTMLText] = []
        // What is retried is a code, whatever its causes.
        var codes: [String] = []
        for case let code? in groups.map({ $0["code"]?.text }) where !codes.contains(code) { codes.append(code) }
        for code in codes {
            cards.append(try await card(code, groups.filter { $0["code"]?.text == code }, span, visit))
        }
        let tabs = failureSpans.map { item -> HTMLText in
            let current: HTMLText = item.name == span.name ? " aria-current=\"true\"" : ""
            return "<li><a href=\"/console/failures?span=\(item.name)\"\(current)>\(item.label)</a></li>\n"
        }
        let count = groups.reduce(0) { $0 + Int($1["count"]?.number ?? 0) }
        let empty: HTMLText = "<p class=\"empty\">✓ No failures.</p>"
        return ConsoleContent(
            title: count == 0 ? "Failures" : "Failures (\(count))",
            html: """
                <h1>Failures</h1>
                <div class="head"><nav class="tabs" aria-label="Time range"><ul>
                \(tabs)</ul></nav>\(retryAll(groups, span, visit))</div>
                \(cards.isEmpty ? empty : "\(cards)")
                """,
            says: count == 0 ? "No failures." : "\(Element.count(count, "failure")).")
    }

    private static func failureSpan(_ visit: ConsoleVisit) -> (name: String, label: String, seconds: Double?) {
        let name = visit.filter("span") ?? "24h"
        return failureSpans.first { $0.name == name } ?? failureSpans[1]
    }

    fileprivate static func since(
        _ span: (name: String, label: String, seconds: Double?), _ visit: ConsoleVisit
    ) -> String? {
        span.seconds.map { Instant(milliseconds: visit.now.milliseconds - Int64($0 * 1000)).description }
    }

    fileprivate static func since(named name: String?, _ visit: ConsoleVisit) -> String? {
        failureSpans.first { $0.name == name }.flatMap { since($0, visit) }
    }

    private static func isRetryable(_ group: JSONValue) -> Bool { group["retryable"]?.boolean == true }

    // MARK: Everything that can be

    private static func retryAll(
        _ groups: [JSONValue], _ span: (name: String, label: String, seconds: Double?), _ visit: ConsoleVisit
    ) -> HTMLText {
        let able = groups.filter(isRetryable)
        let count = able.reduce(0) { $0 + Int($1["count"]?.number ?? 0) }
        guard count > 0, visit.api.may(.retryJobs) else { return "" }
        let path = "/console/failures?span=\(span.name)"
        guard visit.query["confirm"] == "all" else {
            return """
                <div class="buttons"><a class="button" id="retry-all" href="\(path)&amp;confirm=all">Retry all retryable…</a></div>
                """
        }
        let codes = able.compactMap { $0["code"]?.text }.joined(separator: ",")
        return """
            <div class="buttons">\(Element.button(
                "Retry \(Element.count(count, "failure"))", "/console/failures/retry", kind: "main",
                [("codes", codes), ("span", span.name)]))<a class="button" href="\(path)">Cancel</a></div>
            """
    }

    // MARK: One code

    private static func card(
        _ code: String, _ groups: [JSONValue], _ span: (name: String, label: String, seconds: Double?),
        _ visit: ConsoleVisit
    ) async throws -> HTMLText {
        let count = groups.reduce(0) { $0 + Int($1["count"]?.number ?? 0) }
        let kinds = Set(groups.flatMap { $0["kinds"]?.elements ?? [] }.compactMap(\.text)).sorted()
        let messages = groups.map { group -> HTMLText in
            let number = groups.count > 1 ? HTMLText("\(Int(group["count"]?.number ?? 0)) × ") : ""
            return "<p class=\"message\">\(number)\(Element.text(group["message"]?.text))</p>\n"
        }
        let isRetryable = groups.contains(where: isRetryable)
        let about: HTMLText =
            isRetryable
            ? "<p><strong>Retrying can help.</strong></p>"
            : "<p><strong>Retrying won't help</strong> unless the file behind the URL has changed.</p>"
        return """
            <section class="failure" id="failure-\(code)" aria-labelledby="title-\(code)">
            <p class="count" aria-hidden="true">\(count)</p>
            <div><h2 id="title-\(code)"><code>\(code)</code> <span class="hidden">\(Element.count(count, "failure"))</span></h2>
            \(messages)\(about)
            <p class="faint">Last \(Element.age(groups.first?["last_at"]?.text, at: visit.now)), first \
            \(Element.age(groups.compactMap { $0["first_at"]?.text }.min(), at: visit.now))\
            \(kinds.isEmpty ? "" : HTMLText(", \(kinds.joined(separator: ", "))"))</p>
            \(try await examples(code, groups, visit))
            \(retry(code, count, isRetryable, span, visit))</div>
            </section>
            """
    }

    private static func retry(
        _ code: String, _ count: Int, _ isRetryable: Bool,
        _ span: (name: String, label: String, seconds: Double?), _ visit: ConsoleVisit
    ) -> HTMLText {
        guard visit.api.may(.retryJobs) else { return "" }
        let path = "/console/failures?span=\(span.name)"
        guard visit.query["confirm"] == code else {
            let label = isRetryable ? "Retry…" : "Retry anyway…"
            return """
                <p><a class="button" href="\(path)&amp;confirm=\(code)#failure-\(code)">\(label)</a></p>
                """
        }
        return """
            <div class="buttons">\(Element.button(
                "Retry \(Element.count(count, "failure"))", "/console/failures/retry", kind: "main",
                [("codes", code), ("span", span.name)]))<a class="button" href="\(path)">Cancel</a></div>
            """
    }

    /// The latest few, by what they were made from.
    private static func examples(
        _ code: String, _ groups: [JSONValue], _ visit: ConsoleVisit
    ) async throws -> HTMLText {
        var lines: [HTMLText] = []
        let jobs = groups.flatMap { ($0["jobs"]?.elements ?? []).prefix(groups.count > 1 ? 2 : 5) }
        for id in jobs.compactMap({ $0.text ?? $0["id"]?.text }) {
            guard let job = try? await visit.api.get(.job, ["id": id]) else { continue }
            let failed = (job["attachments"]?.elements ?? []).first { $0["error"]?["code"]?.text == code }
            let source = failed?["source"]
            let host = source?["host"]?.text.map { " (\($0))" } ?? ""
            let name = (source?["name"]?.text ?? failed?["identifier"]?.text).map { $0 + host }
            lines.append(
                """
                <li>\(jobLink(id)) \(Element.text(name)) <span class="faint">\
                \(Element.age(job["finished_at"]?.text, at: visit.now))</span></li>

                """)
        }
        return lines.isEmpty ? "" : "<ul class=\"examples\">\n\(lines)</ul>"
    }
}

extension ConsoleAction {
    static let retryFailures = ConsoleAction(path: "/console/failures/retry", needs: .retryJobs) { visit in
        let span = visit.form["span"]
        for code in (visit.form["codes"] ?? "").split(separator: ",").map(String.init) {
            var next: String?
            repeat {
                next = try await visit.api.send(
                    .retryJobs,
                    fields: ["code": code, "cursor": next, "since": ConsolePage.since(named: span, visit)]
                ).json["next"]?.text
            } while next != nil
        }
        return .see("/console/failures" + ConsoleAPI.query([("span", span)]), .allRetried)
    }
}
