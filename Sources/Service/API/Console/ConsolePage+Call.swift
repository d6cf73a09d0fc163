import SatchelCore
import Payloads

extension ConsolePage {
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
            ? "<p class=\"empty\">Nobody was called yet.</p>"
            : Element.table(
                "Attempts, the latest first", ["No.", "At", "Took", "Answer", "Why", "It said"], rows,
                id: "answers-table")
        let replay: HTMLText =
            visit.api.may(.replayCall) && state != "cancelled"
            ? Element.button("Call again", "/console/calls/\(ConsoleAPI.encoded(id))/replay", kind: "main") : ""
        return ConsoleContent(
            title: "Call \(id)",
            html: """
                <p class="crumb"><a href="/console/calls">Calls</a></p>
                <h1>Call <span class="id">\(id)</span></h1>
                <div class="head">\(Element.state(state)) <code>\(call["type"]?.text ?? "")</code>\
                <div class="buttons">\(replay)</div></div>
                \(Element.facts([
                    ("To", Element.text(call["url"]?.text)), ("Tells of", callSubject(call)),
                    ("Attempts", "\(Int(call["attempts"]?.number ?? 0))"),
                    ("Next", Element.time(call["next_at"]?.text)), ("Why", Element.text(call["reason"]?.text)),
                    ("Made", Element.time(call["created_at"]?.text)), ("Ended", Element.time(call["finished_at"]?.text)),
                ]))
                <section aria-labelledby="answers"><h2 id="answers">What was answered</h2>
                \(table)</section>
                \(Element.json("As the API has it", call))
                """,
            says: "The call is \(state).")
    }

    static func callSubject(_ call: JSONValue) -> HTMLText {
        guard let subject = call["subject"]?.text else { return "–" }
        if call["type"]?.text == CallType.jobFinished.rawValue { return jobLink(subject) }
        return "<span class=\"id\">\(subject)</span>"
    }
}
