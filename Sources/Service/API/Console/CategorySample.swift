import SatchelCore
import Hummingbird
import Payloads

/// What a notification of a category looks like, with a payload of ours: on a page of an origin of its own, which the cookie
/// lets in and which then has none.
struct CategorySample: Sendable {
    let visit: ConsoleVisit

    init(_ visit: ConsoleVisit) {
        self.visit = visit
    }

    func response() async throws -> Response {
        guard visit.api.may(.category),
            let category = try await visit.service.records.category(
                visit.parameter("id"), of: visit.session.tenant)
        else { throw Problem.notFound }
        let alert = JSONValue(members: [
            ("title", JSONValue("Your order")), ("subtitle", JSONValue("No. 88213")),
            ("body", JSONValue("It is on its way and arrives between 10 and 12.")),
        ])
        let aps = JSONValue(members: [
            ("alert", alert), ("category", JSONValue(category.id)), ("mutable-content", JSONValue(1)),
        ])
        let page = PreviewPage(
            preview: NotificationPreview(payload: JSONValue(members: [("aps", aps)]).bytes, category: category),
            appearance: PreviewAppearance(visit.request))
        let policy = PagePolicy()
        return policy.sandboxed(page.html(policy))
    }
}
