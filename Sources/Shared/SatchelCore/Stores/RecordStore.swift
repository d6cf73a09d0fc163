/// Keeps jobs, attachments, the queue, access, keys, calls, categories, notifications, responses, uploads, tenants, the audit list and who is
/// signed in to the console; the source of instants.
/// One store has all the roles, for one transaction may touch several; whoever uses it takes those that it needs.
///
/// What is deleted goes in this order: the record first, with all access to it, then the blob's row at zero references,
/// then the bytes. Those, and sources that no job needs any more, are the record store's to have removed, for which nobody
/// has to ask.
public protocol RecordStore: JobQueue, JobRecords, AccessRecords, APIKeyRecords, WebhookQueue, BlobRecords,
    CategoryRecords, NotificationRecords, NotificationMediaRecords, ResponseRecords, OperationRecords, UploadRecords,
    ConsoleSessionRecords, TenantRecords, AuditRecords, NodeCounting, RenditionKeyRecords
{
    /// Whether what becomes superfluous is written down as it does, and removed by ``collectGarbage()``. Then no sweep has to
    /// look for it among all blobs.
    var notesGarbage: Bool { get }

    /// Runs that several machines share; nil where the store is one machine's.
    var sharedRuns: (any SharedRuns)? { get }

    /// Whether a task of upkeep is this process's turn, of all that use the store. Who has it keeps it while it asks again
    /// within ten seconds; that two have it for a moment does no harm.
    func leads(_ task: UpkeepTask) async throws(AttachmentError) -> Bool

    /// Removes what was written down as superfluous and is due, where that is this process's turn.
    ///
    /// - Returns: How much there was.
    func collectGarbage() async throws(AttachmentError) -> Int
}

/// Knows who uses a store, and tells them of each other.
public protocol NodeCounting: Sendable {
    /// The store's time without asking it: the last known one, plus what passed on the monotonic clock since.
    var time: Instant { get }

    /// Processes that take requests on the store now, this one among them where it does, as far as it knows. Rates that each
    /// counts for itself are divided by it.
    var nodes: Int { get }

    /// Processes that work for the store now, counted likewise. What each has under way at once with others' servers is divided by
    /// it.
    var workers: Int { get }

    /// Has others know what this process does from now on, and count it. Where they can't be told now, they are before long.
    func join(as role: NodeRole) async

    /// Has others take over what this process shares with them: it takes on nothing new.
    func retire() async
}

/// What one process does for all that use a store.
public enum UpkeepTask: String, Hashable, Sendable, CaseIterable {
    case expiry
    case garbage
    /// Looking for sources that nobody needs, among all; once an hour.
    case sources
}
