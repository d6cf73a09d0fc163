import Attachments

extension RecordStore {
    /// Takes webhooks that are due, with places enough for `count` to one receiver.
    func dueWebhooks(_ count: Int, for duration: Duration) async throws(AttachmentError) -> [WebhookDelivery] {
        try await webhooks(after: [], within: WebhookPlaces(count * 3), for: duration).calls
    }

    func record(_ outcome: WebhookOutcome, of callback: WebhookDelivery) async throws(AttachmentError) {
        _ = try await webhooks(
            after: [WebhookResult(outcome, of: callback)], within: WebhookPlaces(0), for: .seconds(1))
    }
}
