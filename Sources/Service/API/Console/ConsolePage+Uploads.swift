import SatchelCore
import Payloads

extension ConsolePage {
    private static let uploadStates = ["open", "complete", "consumed", "expired", "failed", "cancelled"]

    static let uploads = ConsolePage(path: "/console/uploads", section: .uploads, needs: .listUploads) { visit in
        let answer = try await visit.api.get(
            .listUploads,
            query: [("state", visit.filter("state")), ("cursor", visit.filter("cursor")), ("limit", "25")])
        let rows = (answer["uploads"]?.elements ?? []).map { row(upload: $0, visit) }
        let table: HTMLText =
            rows.isEmpty
            ? Element.empty("uploads", "/console/uploads", visit)
            : Element.table(
                "Uploads, newest first", ["File", "State", "Received", "Used by", "Created", "Expires", "Action"], rows,
                id: "uploads-table")
        return ConsoleContent(
            title: "Uploads",
            html: """
                <h1>Uploads</h1>
                \(Element.filters("/console/uploads", [Element.choice(visit, "state", "State", uploadStates)]))
                \(table)
                \(Element.more(visit, "/console/uploads", ["state"], answer["next"]))
                """)
    }

    private static func row(upload: JSONValue, _ visit: ConsoleVisit) -> [HTMLText] {
        let id = upload["id"]?.text ?? ""
        let state = upload["state"]?.text
        let code: HTMLText = upload["error"]?["code"]?.text.map { " <code>\($0)</code>" } ?? ""
        let offset = upload["offset"]?.number ?? 0
        let length = upload["length"]?.number
        let bar: HTMLText =
            length.map { length in
                """
                <progress max="\(length)" value="\(offset)" aria-label="Received"></progress>
                """
            } ?? ""
        let end: HTMLText =
            state == "open" && visit.api.may(.deleteUpload)
            ? Element.button("Cancel", "/console/uploads/\(ConsoleAPI.encoded(id))/end") : ""
        return [
            "\(Element.text(upload["name"]?.text)) <span class=\"id faint\">\(id)</span>",
            "\(Element.state(state))\(code)",
            "\(bar)\(Element.bytes(offset))\(length.map { " of \(Element.bytes($0))" } ?? "")",
            user(of: upload), Element.age(upload["created_at"]?.text, at: visit.now),
            state == "open" ? Element.age(upload["expires_at"]?.text, at: visit.now) : "–", end,
        ]
    }

    /// The job or notification that has it.
    private static func user(of upload: JSONValue) -> HTMLText {
        let parts = (upload["used_by"]?.text ?? "").split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return jobLink(upload["job"]?.text) }
        if parts[0] == "job" { return jobLink(parts[1]) }
        return "<a class=\"id\" href=\"/console/notifications/\(ConsoleAPI.encoded(parts[1]))\">\(parts[1])</a>"
    }
}
