/// What is to be done about the media of notifications. What changes is decided by ``MediaDecision``, the same for every store.
public protocol NotificationMediaRecords: Sendable {
    /// Pending notifications of all tenants about whose media something is to be done, the longest due first: by the clock
    /// itself, as firings are. Those that wait for their job's end are among them when it has ended.
    func dueMedia(limit: Int) async throws(AttachmentError) -> [NotificationRecord]

    /// What a notification's media are made of, with the headers for their origins; nil where nothing is prepared or tried
    /// again any more.
    func mediaSources(of id: NotificationID, tenant: TenantID) async throws(AttachmentError) -> JobSubmission?

    /// Records a step, and enqueues its call in the same transaction: see ``MediaDecision/take(_:_:_:)``.
    ///
    /// - Parameter read: The record by which it was decided.
    /// - Returns: Whether it was taken: nothing has changed meanwhile.
    func take(_ step: MediaStep, _ read: NotificationRecord) async throws(AttachmentError) -> Bool
}
