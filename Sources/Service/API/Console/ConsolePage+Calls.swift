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
}

extension ConsoleAction {
    static let replayCall = ConsoleAction(path: "/console/calls/{id}/replay", needs: .replayCall) { visit in
        _ = try await visit.api.send(.replayCall, ["id": visit.parameter("id")])
        return .see("/console/calls/\(ConsoleAPI.encoded(try visit.parameter("id")))", .replayed)
    }
}
