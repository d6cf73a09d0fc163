import SatchelCore
import Payloads

extension ConsolePage {
    static let notifications = ConsolePage(
        path: "/console/notifications", section: .notifications, needs: .listNotifications
    ) { visit in
        let list = visit.filter("list") == "delivered" ? "delivered" : "pending"
        let answer = try await visit.api.get(
            .listNotifications,
            query: [
                ("list", list), ("category", visit.filter("category")), ("cursor", visit.filter("cursor")),
                ("limit", "25"),
            ])
        let rows = (answer["notifications"]?.elements ?? []).map { row(notification: $0, visit) }
        let tabs = ["pending", "delivered"].map { name -> HTMLText in
            let current: HTMLText = name == list ? " aria-current=\"true\"" : ""
            let label = name == "pending" ? "Pending" : "Delivered"
            return "<li><a href=\"/console/notifications?list=\(name)\"\(current)>\(label)</a></li>\n"
        }
        let caption = list == "pending" ? "Pending, soonest first" : "Delivered, latest first"
        let table: HTMLText =
            rows.isEmpty
            ? "<p class=\"empty\">\(list == "pending" ? "No pending notifications." : "No delivered notifications.")</p>"
            : Element.table(
                caption, ["Notification", "State", "Media", "Next, local time", "Next, UTC", "Fired"], rows,
                id: "notifications-table")
        return ConsoleContent(
            title: "Notifications",
            html: """
                <h1>Notifications</h1>
                <nav class="tabs" aria-label="Lists"><ul>
                \(tabs)</ul></nav>
                \(table)
                \(Element.more(visit, "/console/notifications", ["list", "category"], answer["next"]))
                """)
    }

    private static func row(notification: JSONValue, _ visit: ConsoleVisit) -> [HTMLText] {
        let id = notification["id"]?.text ?? ""
        let next = notification["next"]
        let counts = ["delivered", "failed", "missed"].compactMap { name -> String? in
            guard let count = notification["firings"]?[name]?.number, count > 0 else { return nil }
            return "\(Int(count)) \(name)"
        }
        let category: HTMLText = notification["category"]?.text.map { " <code>\($0)</code>" } ?? ""
        return [
            "<a class=\"id\" href=\"/console/notifications/\(ConsoleAPI.encoded(id))\">\(id)</a>\(category)",
            Element.state(notification["state"]?.text), Element.state(notification["media"]?.text),
            "\(next?["local"]?.text.map { String($0.prefix(16).replacing("T", with: " ")) } ?? "–")",
            next?["at"]?.text == nil ? "–" : Element.age(next?["at"]?.text, at: visit.now),
            "\(counts.isEmpty ? "–" : counts.joined(separator: ", "))",
        ]
    }

    static let notification = ConsolePage(
        path: "/console/notifications/{id}", section: .notifications, needs: .notification
    ) { visit in
        let id = try visit.parameter("id")
        let notification = try await visit.api.get(.notification, ["id": id])
        let state = notification["state"]?.text ?? ""
        let firings = try await visit.api.get(.notificationFirings, ["id": id], query: [("limit", "20")])
        return ConsoleContent(
            title: "Notification \(id)",
            html: """
                <p class="crumb"><a href="/console/notifications">Notifications</a></p>
                <h1>Notification <span class="id">\(id)</span></h1>
                <div class="head">\(Element.state(state)) <span class="faint">media</span> \
                \(Element.state(notification["media"]?.text))\(notificationButtons(notification, visit))</div>
                \(Element.error(notification["error"]))
                \(preview(visit))
                \(warnings(notification))
                \(try await instants(notification, visit))
                \(firingsSection(firings["firings"]?.elements ?? [], visit))
                \(try await media(notification, visit))
                \(try await responses(id, visit))
                <section aria-labelledby="about"><h2 id="about">Details</h2>
                \(Element.facts([
                    ("Category", Element.text(notification["category"]?.text)),
                    ("Generation", "\(Int(notification["generation"]?.number ?? 1))"),
                    ("Payload", "\(Element.bytes(notification["payload_bytes"]))"),
                    ("Created", Element.time(notification["created_at"]?.text)),
                    ("Finished", Element.time(notification["finished_at"]?.text)),
                ]))
                \(Element.json("Raw JSON", notification))</section>
                """,
            says: "The notification is \(state).")
    }

    private static func notificationButtons(_ notification: JSONValue, _ visit: ConsoleVisit) -> HTMLText {
        let path = "/console/notifications/\(ConsoleAPI.encoded(notification["id"]?.text ?? ""))"
        var buttons: [HTMLText] = []
        if visit.api.may(.createPreview) { buttons.append(Element.button("Preview", "\(path)/preview", kind: "main")) }
        if visit.api.may(.fireNotification), notification["state"]?.text != "cancelled" {
            buttons.append(Element.ask(visit, "fire", "Fire now…", "Fire now", "\(path)/fire", back: path))
        }
        if visit.api.may(.deleteNotification) {
            buttons.append(
                Element.ask(visit, "remove", "Remove…", "Remove notification", "\(path)/remove", back: path))
        }
        return "<div class=\"buttons\">\(buttons)</div>"
    }

    /// A preview that was just made, in a frame that reaches nothing of this page.
    private static func preview(_ visit: ConsoleVisit) -> HTMLText {
        guard let ticket = visit.filter("preview"), ticket.hasPrefix(TokenKind.preview.rawValue) else { return "" }
        return """
            <section aria-labelledby="preview-title"><h2 id="preview-title">Preview</h2>
            <iframe class="preview" id="preview" title="Preview of the notification" \
            sandbox="allow-scripts allow-forms" src="/p/\(ConsoleAPI.encoded(ticket))"></iframe></section>
            """
    }

    private static func warnings(_ notification: JSONValue) -> HTMLText {
        let warnings = (notification["warnings"]?.elements ?? []).map { warning -> HTMLText in
            "<li><code>\(warning["code"]?.text ?? "")</code> \(Element.text(warning["detail"]?.text))</li>\n"
        }
        return warnings.isEmpty ? "" : "<section><h2>Warnings</h2><ul>\n\(warnings)</ul></section>"
    }

    /// The next five instants, as the trigger has them.
    private static func instants(_ notification: JSONValue, _ visit: ConsoleVisit) async throws -> HTMLText {
        guard let trigger = notification["trigger"], !trigger.isNull, let next = notification["next"], !next.isNull,
            visit.api.may(.checkTrigger)
        else { return "" }
        var rows: [JSONValue] = [next]
        if trigger["repeats"]?.boolean == true, let after = next["at"]?.text {
            let body = JSONValue(members: [
                ("trigger", trigger), ("after", JSONValue(after)), ("count", JSONValue(4)),
            ])
            // The page leaves out figures that can't be read.
            rows += (try? await visit.api.send(.checkTrigger, body: body.bytes).json["next"]?.elements) ?? []
        }
        let cells = rows.map { instant -> [HTMLText] in
            [
                "\(instant["local"]?.text?.replacing("T", with: " ") ?? "–")", Element.time(instant["at"]?.text),
                Element.age(instant["at"]?.text, at: visit.now), Element.text(instant["note"]?.text),
            ]
        }
        return """
            <section aria-labelledby="next"><h2 id="next">Upcoming firings</h2>
            \(Element.table("Upcoming firings", ["Local time", "UTC", "", "Note"], cells, id: "next-table"))</section>
            """
    }

    private static func firingsSection(_ firings: [JSONValue], _ visit: ConsoleVisit) -> HTMLText {
        guard !firings.isEmpty else { return "" }
        let rows = firings.map { firing -> [HTMLText] in
            let call = firing["call"]
            let calls: HTMLText =
                call?["state"]?.text == nil
                ? "–"
                // A firing's call has its id.
                : "<a href=\"/console/calls/\(ConsoleAPI.encoded(firing["id"]?.text ?? ""))\">\(Element.state(call?["state"]?.text))</a> \(Int(call?["attempts"]?.number ?? 0))\(call?["reason"]?.text.map { HTMLText(": \(Element.text($0))") } ?? "")"
            return [
                "\(Int(firing["number"]?.number ?? 0))",
                "\(Element.state(firing["state"]?.text))\(firing["error"]?["message"]?.text.map { HTMLText(" \(Element.text($0))") } ?? "")",
                Element.time(firing["scheduled_at"]?.text), Element.time(firing["fired_at"]?.text),
                "\(firing["late"]?.number.map(Element.span) ?? "–")", calls,
                "\(Int(firing["responses"]?.number ?? 0))",
            ]
        }
        return """
            <section aria-labelledby="firings"><h2 id="firings">Firings</h2>
            \(Element.table("Firings", ["No.", "State", "Due", "Fired", "Late", "Handover", "Responses"], rows, id: "firings-table"))</section>
            """
    }

    private static func media(_ notification: JSONValue, _ visit: ConsoleVisit) async throws -> HTMLText {
        guard let id = notification["job"]?.text, let job = try? await visit.api.get(.job, ["id": id]) else {
            return ""
        }
        let attachments = (job["attachments"]?.elements ?? []).map { jobAttachment($0, visit) }
        return """
            <section aria-labelledby="media"><h2 id="media">Media</h2>
            <p>Prepared by job \(jobLink(id)) \(Element.state(job["state"]?.text))</p></section>
            \(attachments)
            """
    }

    private static func responses(_ id: String, _ visit: ConsoleVisit) async throws -> HTMLText {
        guard visit.api.may(.listResponses) else { return "" }
        let answer = try await visit.api.get(.listResponses, query: [("notification", id), ("limit", "20")])
        let rows = (answer["responses"]?.elements ?? []).map { response -> [HTMLText] in
            [
                "<code>\(response["action"]?.text ?? "")</code>", Element.text(response["text"]?.text),
                Element.text(response["then"]?.text), Element.text(response["decided_by"]?.text),
                Element.age(response["received_at"]?.text, at: visit.now),
                "\(response["preview"]?.boolean == true ? "preview" : "")",
            ]
        }
        guard !rows.isEmpty else { return "" }
        return """
            <section aria-labelledby="responses"><h2 id="responses">Responses</h2>
            \(Element.table("Responses", ["Action", "Text", "Result", "Decided by", "Received", ""], rows, id: "responses-table"))</section>
            """
    }
}

extension ConsoleAction {
    static let previewNotification = ConsoleAction(
        path: "/console/notifications/{id}/preview", needs: .createPreview
    ) { visit in
        let id = try visit.parameter("id")
        let preview = try await visit.api.send(.createPreview, ["id": id]).json
        let ticket = preview["url"]?.text?.split(separator: "/").last.map(String.init)
        let page = "/console/notifications/\(ConsoleAPI.encoded(id))"
        return .see(page + ConsoleAPI.query([("preview", ticket)]), .previewed)
    }
}
