/// Keeps jobs, attachments, the queue, access, keys and calls; the source of instants. One store has all the roles, for one
/// transaction may touch several; whoever uses it takes those that it needs.
///
/// What is deleted goes in this order: the record first, with all access to it, then the blob's row at zero references,
/// then the bytes. Those, and sources that no job needs any more, are the record store's to have removed, for which nobody
/// has to ask.
public protocol RecordStore: JobQueue, JobRecords, AccessRecords, APIKeyRecords, WebhookQueue, BlobRecords {}
