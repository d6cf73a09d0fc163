import SatchelCore
import Payloads

extension ConsolePage {
    static let attachments = ConsolePage(
        path: "/console/attachments", section: .attachments, needs: .listAttachments
    ) { visit in
        let filters = RecordFilterForm(visit)
        let list = try await visit.api.get(
            .listAttachments, query: filters.query + [("cursor", visit.filter("cursor")), ("limit", "24")])
        let attachments = list["attachments"]?.elements ?? []
        let grid: HTMLText =
            attachments.isEmpty
            ? Element.empty("attachments", "/console/attachments", visit)
            : "<ul class=\"grid\" id=\"grid\">\n\(attachments.map { tile($0, visit) })</ul>"
        return ConsoleContent(
            title: "Attachments",
            html: """
                <h1>Attachments</h1>
                \(filters.html("/console/attachments"))
                \(grid)
                \(Element.more(visit, "/console/attachments", RecordFilterForm.names, list["next"]))
                """)
    }

    private static func tile(_ attachment: JSONValue, _ visit: ConsoleVisit) -> HTMLText {
        let id = attachment["id"]?.text ?? ""
        let name = attachment["source"]?["name"]?.text ?? attachment["identifier"]?.text ?? id
        let state = attachment["state"]?.text
        let code: HTMLText = attachment["error"]?["code"]?.text.map { " <code>\($0)</code>" } ?? ""
        let about: HTMLText =
            state == "delivered"
            ? "\(Element.bytes(attachment["best"]?.text.flatMap { attachment["renditions"]?[$0]?["bytes"] }))"
            : "\(Element.state(state))\(code)"
        return """
            <li id="tile-\(id)"><a href="/console/attachments/\(ConsoleAPI.encoded(id))">\(Element.thumbnail(attachment))\
            <span class="name">\(Element.text(name))</span></a>
            <span class="faint">\(about) · \(Element.age(attachment["created_at"]?.text, at: visit.now))</span></li>

            """
    }
}
