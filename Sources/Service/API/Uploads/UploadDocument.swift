import SatchelCore

/// An upload as the API shows it.
struct UploadDocument: Encodable {
    var id: String
    /// Where it is sent to; shown once, to whoever opens it.
    var url: String?
    var state: UploadState
    @Nullable var length: Int64?
    var offset: Int64
    @Nullable var name: String?
    @Nullable var typeHint: String?
    @Nullable var sha256: String?
    /// The job that has it, or will be submitted with it.
    @Nullable var job: String?
    @Nullable var usedBy: String?
    var createdAt: Instant
    var expiresAt: Instant
    @Nullable var finishedAt: Instant?
    @Nullable var error: ErrorReport?

    init(_ record: UploadRecord, url: String? = nil) {
        id = record.id.rawValue
        self.url = url
        state = record.state
        length = record.length
        offset = record.offset
        name = record.terms.name
        typeHint = record.terms.typeHint
        sha256 = record.sha256 ?? record.terms.sha256
        job = record.terms.job?.id.rawValue
        usedBy = record.usedBy
        createdAt = record.createdAt
        expiresAt = record.expiresAt
        finishedAt = record.finishedAt
        error = record.error
    }
}
