import SatchelCore
import Payloads

/// Who may read an attachment: grants as a tree, with leases by them, and links.
struct AttachmentAccess: Sendable {
    /// As many as a page shows: who has more has them by the API.
    private static let most = 100

    private let attachment: String
    private let entries: [JSONValue]
    private let isWhole: Bool
    private let visit: ConsoleVisit

    init(of attachment: String, _ visit: ConsoleVisit) async throws {
        let answer = try await visit.api.get(
            .attachmentAccess, ["id": attachment], query: [("limit", "\(Self.most)")])
        self.attachment = attachment
        entries = answer["access"]?.elements ?? []
        isWhole = answer["next"]?.text == nil
        self.visit = visit
    }

    var html: HTMLText {
        guard !entries.isEmpty else { return "" }
        let live = entries.filter(isLive)
        let more: HTMLText = isWhole ? "" : "<p class=\"faint\">Only the first \(Self.most) entries are shown.</p>"
        return """
            <section id="access" aria-labelledby="access-title">
            <div class="head"><h2 id="access-title">Access</h2>\(revokeAll(live))</div>
            \(tree(under: nil))
            \(more)</section>
            """
    }

    private func isLive(_ entry: JSONValue) -> Bool {
        guard entry["ended_at"]?.text == nil, let end = entry["expires_at"]?.text.flatMap({ Instant($0) }) else {
            return false
        }
        return end > visit.now
    }

    private func tree(under parent: String?) -> HTMLText {
        let ids = Set(entries.compactMap { $0["id"]?.text })
        // What hangs on something that isn't there any more stands for itself.
        let children = entries.filter { entry in
            let above = entry["parent_id"]?.text
            return parent == nil ? above.map { !ids.contains($0) } ?? true : above == parent
        }
        guard !children.isEmpty else { return "" }
        let items = children.map { entry -> HTMLText in
            let id = entry["id"]?.text ?? ""
            return "<li id=\"access-\(id)\">\(line(entry))\(tree(under: id))</li>\n"
        }
        return "<ul class=\"access\">\n\(items)</ul>"
    }

    private func line(_ entry: JSONValue) -> HTMLText {
        let id = entry["id"]?.text ?? ""
        let renditions = (entry["renditions"]?.elements ?? []).compactMap(\.text).joined(separator: ", ")
        let how = [
            renditions.isEmpty ? "all renditions" : renditions,
            entry["by_job"]?.boolean == true ? "opened by the job" : "",
            entry["lease_limit"]?.number.map { "at most \(Int($0)) leases" } ?? "",
        ].filter { !$0.isEmpty }.joined(separator: ", ")
        let live = isLive(entry)
        let end: HTMLText =
            entry["ended_at"]?.text.map { "revoked \(Element.age($0, at: visit.now))" }
            ?? "\(live ? "expires" : "expired") \(Element.age(entry["expires_at"]?.text, at: visit.now))"
        let shape: HTMLText =
            live
            ? "<span class=\"state delivered\"><span aria-hidden=\"true\">●</span> active</span>"
            : "<span class=\"state\"><span aria-hidden=\"true\">○</span> ended</span>"
        let button: HTMLText =
            live && visit.api.may(.stopLease) ? Element.button("Revoke", path(id)) : ""
        return """
            <div class="line">\(shape) <strong>\(entry["kind"]?.text ?? "")</strong> <span class="id">\(id)</span> \
            <span class="faint">\(how), \(end)</span>\(button)</div>
            """
    }

    private func path(_ id: String) -> String {
        "/console/attachments/\(ConsoleAPI.encoded(attachment))/access/\(ConsoleAPI.encoded(id))/revoke"
    }

    /// What everything hangs on: the rest goes with it.
    private func revokeAll(_ live: [JSONValue]) -> HTMLText {
        guard live.count > 1, visit.api.may(.stopLease) else { return "" }
        let page = "/console/attachments/\(ConsoleAPI.encoded(attachment))"
        guard visit.query["confirm"] == "access" else {
            return
                "<div class=\"buttons\"><a class=\"button\" href=\"\(page)?confirm=access#access\">Revoke all…</a></div>"
        }
        return """
            <div class="buttons">\(Element.button(
                "Revoke all \(live.count)", "\(page)/access/revoke", kind: "danger"))\
            <a class="button" href="\(page)#access">Cancel</a></div>
            """
    }
}
