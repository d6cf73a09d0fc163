/// Something that happened to a job while it was carried out. Told as it happens, never stored: the record is what
/// counts.
public struct JobEvent: Hashable, Sendable {
    public var tenant: TenantID
    public var job: JobID
    public var generation: Int
    public var what: What

    public enum What: Hashable, Sendable {
        case accepted
        /// An attempt has begun; 1 for the first.
        case started(attempt: Int)
        /// Another node is at an attempt, and tells the rest.
        case remote(RemoteAttempt)
        /// A stage of an attachment has ended: `fetch`, `identify`, `retry`, `commit`.
        case stage(AttachmentID, Step)
        /// Bytes that a fetch has received so far, and in all where the origin told.
        case progress(AttachmentID, received: Int64, of: Int64?)
        /// A rendition is durable. It can be read when the job is delivered.
        case rendition(AttachmentID, RenditionReport)
        /// The job was handed back and will be tried again.
        case postponed
        /// The end: delivered, failed or cancelled.
        case finished(WorkState)
    }

    public init(tenant: TenantID, job: JobID, generation: Int, what: What) {
        self.tenant = tenant
        self.job = job
        self.generation = generation
        self.what = what
    }
}
