import Attachments

extension RecordStore {
    /// Takes callbacks that are due, with places enough for `count` to one receiver.
    func dueCallbacks(_ count: Int, for duration: Duration) async throws(AttachmentError) -> [CallbackDelivery] {
        try await callbacks(after: [], within: CallbackPlaces(count * 3), for: duration).calls
    }

    func record(_ outcome: CallbackOutcome, of callback: CallbackDelivery) async throws(AttachmentError) {
        _ = try await callbacks(
            after: [CallbackResult(outcome, of: callback)], within: CallbackPlaces(0), for: .seconds(1))
    }
}
