import SatchelCore
import Payloads

extension ConsolePage {
    private static let callFilters = ["state", "type"]

    static let calls = ConsolePage(path: "/console/calls", section: .calls, needs: .listCalls) { visit in
        let query = callFilters.map { ($0, visit.filter($0)) }
        let list = try await visit.api.get(
            .listCalls, query: query + [("cursor", visit.filter("cursor")), ("limit", "25")])
        let calls = list["calls"]?.elements ?? []
        let rows = calls.map { call -> [HTMLText] in
            let id = ConsoleAPI.encoded(call["id"]?.text ?? "")
            let replay: HTMLText =
                visit.api.may(.replayCall) && call["state"]?.text != "cancelled"
                ? Element.button("Repeat call", "/console/calls/\(id)/replay") : ""
            return [
                Element.state(call["state"]?.text),
                "<a href=\"/console/calls/\(id)\"><code>\(call["type"]?.text ?? "")</code></a>", callSubject(call),
                Element.text(call["url"]?.text),
                "\(Int(call["attempts"]?.number ?? 0))\(call["reason"]?.text.map { HTMLText(": \(Element.text($0))") } ?? "")",
                call["next_at"]?.text == nil ? "–" : Element.age(call["next_at"]?.text, at: visit.now),
                Element.age(call["created_at"]?.text, at: visit.now), replay,
            ]
        }
        let table: HTMLText =
            calls.isEmpty
            ? Element.empty("calls", "/console/calls", visit)
            : Element.table(
                "Calls, newest first",
                ["State", "Type", "Subject", "Receiver", "Attempts", "Next attempt", "Created", "Action"], rows,
                id: "calls-table")
        let fields = [
            Element.choice(visit, "state", "State", WebhookReport.State.allCases.map(\.rawValue)),
            Element.choice(visit, "type", "Type", CallType.allCases.map(\.rawValue)),
        ]
        return ConsoleContent(
            title: "Calls",
            html: """
                <h1>Calls</h1>
                <p class="faint">Calls to your back end: job callbacks, firings and responses.</p>
                \(Element.filters("/console/calls", fields))
                \(table)
                \(Element.more(visit, "/console/calls", callFilters, list["next"]))
                """)
    }

    /// A call, with what each attempt was answered.
    static let call = ConsolePage(path: "/console/calls/{id}", section: .calls, needs: .call) { visit in
        let call = try await visit.api.get(.call, ["id": visit.parameter("id")])
        let id = call["id"]?.text ?? ""
        let state = call["state"]?.text ?? ""
        let rows = (call["answers"]?.elements ?? []).reversed().map { answer -> [HTMLText] in
            [
                "\(Int(answer["attempt"]?.number ?? 0))", Element.time(answer["at"]?.text),
                "\(answer["seconds"]?.number.map(Element.span) ?? "–")",
                answer["status"]?.number.map { "\(Int($0))" } ?? "none", Element.text(answer["reason"]?.text),
                answer["body"]?.text.map { "<code>\(isolated: $0.showingInvisible())</code>" } ?? "–",
            ]
        }
        let table: HTMLText =
            rows.isEmpty
            ? "<p class=\"empty\">No attempts yet.</p>"
            : Element.table(
                "Attempts, latest first", ["No.", "Time", "Duration", "Answer", "Reason", "Body"], rows,
                id: "answers-table")
        let replay: HTMLText =
            visit.api.may(.replayCall) && state != "cancelled"
            ? Element.button("Repeat call", "/console/calls/\(ConsoleAPI.encoded(id))/replay", kind: "main") : ""
        return ConsoleContent(
            title: "Call \(id)",
            html: """
                <p class="crumb"><a href="/console/calls">Calls</a></p>
                <h1>Call <span class="id">\(id)</span></h1>
                <div class="head">\(Element.state(state)) <code>\(call["type"]?.text ?? "")</code>\
                <div class="buttons">\(replay)</div></div>
                \(Element.facts([
                    ("Receiver", Element.text(call["url"]?.text)), ("Subject", callSubject(call)),
                    ("Attempts", "\(Int(call["attempts"]?.number ?? 0))"),
                    ("Next attempt", Element.time(call["next_at"]?.text)), ("Reason", Element.text(call["reason"]?.text)),
                    ("Created", Element.time(call["created_at"]?.text)), ("Finished", Element.time(call["finished_at"]?.text)),
                ]))
                <section aria-labelledby="answers"><h2 id="answers">Answers</h2>
                \(table)</section>
                \(Element.json("Raw JSON", call))
                """,
            says: "The call is \(state).")
    }

    static func callSubject(_ call: JSONValue) -> HTMLText {
        guard let subject = call["subject"]?.text else { return "–" }
        if call["type"]?.text == CallType.jobFinished.rawValue { return jobLink(subject) }
        return "<span class=\"id\">\(subject)</span>"
    }
}
