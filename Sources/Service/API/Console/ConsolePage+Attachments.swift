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

    static let attachment = ConsolePage(
        path: "/console/attachments/{id}", section: .attachments, needs: .attachment
    ) { visit in
        let id = try visit.parameter("id")
        let attachment = try await visit.api.get(.attachment, ["id": id])
        let name = attachment["source"]?["name"]?.text ?? attachment["identifier"]?.text ?? id
        let state = attachment["state"]?.text ?? ""
        let renditions = (attachment["renditions"]?.members ?? []).map { rendition(attachment, $0.key, $0.value) }
        let shown: HTMLText =
            renditions.isEmpty ? "" : "<h2>Renditions</h2><div class=\"renditions\">\(renditions)</div>"
        return ConsoleContent(
            title: "Attachment \(name.showingInvisible())",
            html: """
                <p class="crumb"><a href="/console/attachments">Attachments</a></p>
                <h1>\(isolated: name.showingInvisible())</h1>
                <div class="head">\(Element.state(state)) <span class="faint">of job</span> \
                \(jobLink(attachment["job_id"]?.text))\(attachmentButtons(attachment, visit))</div>
                \(Element.error(attachment["error"]))
                \(try await lease(attachment, visit))
                \(try await access(of: id, visit))
                <section>\(shown)
                \(Element.bytesPlot(attachment))</section>
                <section aria-labelledby="steps"><h2 id="steps">Processing</h2>
                \(Element.timeline(attachment["steps"]?.elements ?? []))
                \(Element.facts(attachmentFacts(attachment)))
                \(Element.json("Raw JSON", attachment))</section>
                """,
            says: "The attachment is \(state).")
    }

    private static func attachmentButtons(_ attachment: JSONValue, _ visit: ConsoleVisit) -> HTMLText {
        let path = "/console/attachments/\(ConsoleAPI.encoded(attachment["id"]?.text ?? ""))"
        var buttons: [HTMLText] = []
        if !(attachment["renditions"]?.members ?? []).isEmpty, visit.api.may(.startLease) {
            buttons.append(Element.button("Open for 5 minutes", "\(path)/lease"))
        }
        if visit.api.may(.deleteAttachment) {
            buttons.append(
                Element.ask(
                    visit, "delete", "Delete…", "Delete attachment and revoke access", "\(path)/delete", back: path,
                    no: "Keep it"))
        }
        return "<div class=\"buttons\">\(buttons)</div>"
    }

    private static func rendition(_ attachment: JSONValue, _ role: String, _ rendition: JSONValue) -> HTMLText {
        let about = [rendition["media_type"]?.text, Element.extent(rendition), Element.bytes(rendition["bytes"])]
            .compactMap(\.self).filter { !$0.isEmpty }
        return """
            <figure id="rendition-\(role)">\(Element.player(attachment, role, rendition))
            <figcaption><strong>\(role)</strong> \(about.joined(separator: ", "))</figcaption></figure>
            """
    }

    private static func attachmentFacts(_ attachment: JSONValue) -> [(String, HTMLText)] {
        let source = attachment["source"]
        return [
            ("Kind", Element.text(attachment["kind"]?.text)), ("Result", Element.text(attachment["result"]?.text)),
            ("Source", Element.text(source?["decoded_type"]?.text ?? source?["sniffed_type"]?.text)),
            ("Host", Element.text(source?["host"]?.text)), ("Size", "\(Element.extent(source))"),
            ("Bytes", "\(Element.bytes(source?["bytes"]))"),
            ("Created", Element.time(attachment["created_at"]?.text)),
            ("Finished", Element.time(attachment["finished_at"]?.text)),
            ("Kept until", Element.time(attachment["expires_at"]?.text)),
        ]
    }

    private static func access(of id: String, _ visit: ConsoleVisit) async throws -> HTMLText {
        visit.api.may(.attachmentAccess) ? try await AttachmentAccess(of: id, visit).html : ""
    }

    /// A lease that was begun here, playing by its own URL: it goes where that goes.
    private static func lease(_ attachment: JSONValue, _ visit: ConsoleVisit) async throws -> HTMLText {
        guard let id = visit.filter("lease"), visit.api.may(.lease),
            let lease = try? await visit.api.get(.lease, ["id": id]),
            lease["attachment_id"]?.text == attachment["id"]?.text
        else { return "" }
        let role = lease["best"]?.text ?? "main"
        guard let rendition = lease["renditions"]?[role], let url = rendition["url"]?.text else { return "" }
        let path = "/console/attachments/\(ConsoleAPI.encoded(attachment["id"]?.text ?? ""))"
        let prefix = visit.service.settings.publicURL
        let source = url.hasPrefix(prefix) ? String(url.dropFirst(prefix.count)) : url
        return """
            <section id="lease" aria-labelledby="lease-title"><h2 id="lease-title">Open lease</h2>
            <div class="look">\(Element.player(attachment, role, rendition, source: source))</div>
            \(Element.facts([
                ("Lease", "<span class=\"id\">\(id)</span>"), ("Valid until", Element.time(lease["expires_at"]?.text)),
            ]))
            \(Element.button("Revoke", "\(path)/access/\(ConsoleAPI.encoded(id))/revoke"))</section>
            """
    }
}

extension ConsoleAction {
    static let startLease = ConsoleAction(path: "/console/attachments/{id}/lease", needs: .startLease) { visit in
        let id = try visit.parameter("id")
        let lease = try await visit.api.send(.startLease, fields: ["attachmentId": id]).json
        let path = "/console/attachments/\(ConsoleAPI.encoded(id))"
        return .see(path + ConsoleAPI.query([("lease", lease["id"]?.text)]), .leased)
    }

    static let revokeAccess = ConsoleAction(
        path: "/console/attachments/{id}/access/{access}/revoke", needs: .revokeGrant
    ) { visit in
        try await visit.revoke(visit.parameter("access"))
        return .see("/console/attachments/\(ConsoleAPI.encoded(try visit.parameter("id")))", .revoked)
    }

    /// Revokes all live access. Access that was given under other access ends with it.
    static let revokeAllAccess = ConsoleAction(
        path: "/console/attachments/{id}/access/revoke", needs: .attachmentAccess
    ) { visit in
        let id = try visit.parameter("id")
        var cursor: String?
        repeat {
            let answer = try await visit.api.get(
                .attachmentAccess, ["id": id], query: [("limit", "100"), ("cursor", cursor)])
            for entry in answer["access"]?.elements ?? [] where entry["ended_at"]?.text == nil {
                guard let access = entry["id"]?.text else { continue }
                try await visit.revoke(access)
            }
            cursor = answer["next"]?.text
        } while cursor != nil
        return .see("/console/attachments/\(ConsoleAPI.encoded(id))", .revoked)
    }
}
