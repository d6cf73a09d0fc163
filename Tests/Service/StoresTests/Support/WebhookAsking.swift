import SatchelCore
import Foundation
import Postgres

@testable import Stores

extension RecordStore {
    /// Takes webhooks that are due, with places enough for `count` to one receiver.
    func dueWebhooks(_ count: Int) async throws(AttachmentError) -> [WebhookDelivery] {
        try await webhooks(after: [], within: WebhookPlaces(count * 3), besides: nil).calls
    }

    func record(
        _ outcome: WebhookOutcome, of callback: WebhookDelivery, _ answer: CallAnswer? = nil
    ) async throws(AttachmentError) {
        _ = try await webhooks(
            after: [WebhookResult(outcome, of: callback, answer)], within: WebhookPlaces(0), besides: nil)
    }

    /// In a transaction of its own, as stores do it in those that make what a call tells of.
    func enqueue(_ call: OutgoingCall) async throws {
        try await write { _ = try $0.send([$0.enqueueing(call)]) }
    }

    func cancelCalls(of subject: String, tenant: TenantID) async throws {
        let reason = "superseded"
        try await write {
            _ = try $0.send([$0.cancelling(callsOf: subject, tenant: tenant, reason: reason)])
        }
    }
}

extension OutgoingCall {
    static func sample(
        _ id: String, tenant: TenantID = .local, subject: String? = nil, body: Data = Data("{}".utf8),
        giveUpAt: Instant? = nil
    ) -> OutgoingCall {
        OutgoingCall(
            id: id, tenant: tenant, type: CallType(rawValue: "test.happened"), subject: subject,
            url: "https://example.com/hook", body: TokenTemplate(body, hiding: []), giveUpAt: giveUpAt,
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    }
}
