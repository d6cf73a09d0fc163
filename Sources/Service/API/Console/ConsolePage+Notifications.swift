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
}
