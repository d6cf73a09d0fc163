public import SatchelCore
public import FoundationEssentials
import Jobs
import Platform

/// A job as the API shows it: to whoever asks, in events and to webhooks.
struct JobBody: Encodable {
    var id: String
    var state: WorkState
    /// Attachments by their state, where there are any.
    var counts: [String: Int]
    var profile: String
    var mode: JobMode
    var metadata: [String: String]
    var createdAt: Instant
    @Nullable var deadlineAt: Instant?
    @Nullable var finishedAt: Instant?
    var attachments: [AttachmentBody]
    /// Null also in what the webhook itself sends.
    @Nullable var callback: WebhookReport?

    /// - Parameter access: What the job opened when it delivered, as far as it still lives.
    init(_ record: JobRecord, access: [OpenedAccess], _ service: Service) {
        id = record.id.rawValue
        state = record.state
        counts = Dictionary(grouping: record.attachments, by: \.state.rawValue).mapValues(\.count)
        profile = record.profile
        mode = record.mode
        metadata = record.metadata
        createdAt = record.createdAt
        deadlineAt = record.deadlineAt
        finishedAt = record.finishedAt
        attachments = record.attachments.map { attachment in
            AttachmentBody(attachment, access: access.first { $0.attachment == attachment.id }, service)
        }
        callback = record.callback
    }
}

/// An attachment as the API shows it.
struct AttachmentBody: Encodable {
    struct RenditionBody: Encodable {
        var uti: String
        var mediaType: MediaType
        @Nullable var width: Int?
        @Nullable var height: Int?
        @Nullable var duration: Double?
        var bytes: Int64
        var sha256: String
        /// While the access that the job opened lives.
        @Nullable var url: String?
        /// Null where it isn't encrypted.
        @Nullable var encryption: EncryptionBody?
    }

    struct LeaseBody: Encodable {
        var id: String
        var expiresAt: Instant
    }

    var id: String
    var identifier: String
    var state: WorkState
    @Nullable var fidelity: Fidelity?
    /// The result in words.
    @Nullable var result: String?
    @Nullable var diagnosis: Diagnosis?
    @Nullable var kind: MediaKind?
    @Nullable var best: RenditionRole?
    var source: SourceFacts
    var renditions: [RenditionRole: RenditionBody]
    var options: DisplayOptions
    @Nullable var trim: TrimReport?
    @Nullable var contentSizeRatio: Double?
    @Nullable var placeholder: Placeholder?
    /// The access that the job opened: a lease, or a link where the delivery is shared.
    @Nullable var lease: LeaseBody?
    var steps: [Step]
    @Nullable var expiresAt: Instant?
    @Nullable var error: ErrorReport?

    init(_ record: AttachmentRecord, access: OpenedAccess?, _ service: Service) {
        id = record.id.rawValue
        identifier = record.identifier
        state = record.state
        fidelity = record.fidelity
        result = record.result
        diagnosis = record.source.diagnosis
        kind = record.kind
        best = record.best
        source = record.source
        source.diagnosis = nil
        renditions = [:]
        for (role, rendition) in record.renditions {
            renditions[role] = RenditionBody(
                uti: rendition.uti, mediaType: rendition.mediaType, width: rendition.width, height: rendition.height,
                duration: rendition.duration, bytes: rendition.bytes, sha256: rendition.sha256,
                url: access.map { service.contentURL($0.token, role, rendition.mediaType) },
                encryption: service.encryption(of: rendition, record.tenant))
        }
        options = record.options
        trim = record.trim
        contentSizeRatio = record.contentSizeRatio
        placeholder = record.placeholder
        lease = access.map { LeaseBody(id: $0.id, expiresAt: $0.expiresAt) }
        steps = record.steps
        expiresAt = record.expiresAt
        error = record.error
    }
}

/// An attachment that is looked at by itself, with what its job would say.
struct AttachmentDocument: Encodable {
    private enum Key: CodingKey {
        case jobId, createdAt, finishedAt
    }

    var body: AttachmentBody
    var jobID: String
    var createdAt: Instant
    var finishedAt: Instant?

    init(_ record: AttachmentRecord, access: OpenedAccess?, _ service: Service) {
        body = AttachmentBody(record, access: access, service)
        jobID = record.job.rawValue
        createdAt = record.createdAt
        finishedAt = record.finishedAt
    }

    func encode(to encoder: any Encoder) throws {
        try body.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(jobID, forKey: .jobId)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(Nullable(wrappedValue: finishedAt), forKey: .finishedAt)
    }
}

extension Service {
    /// The body of a job's call: the job as `GET /v1/jobs/{id}` answered it at the first attempt, but for the call itself.
    ///
    /// - Returns: The same bytes for every attempt; nil if the job was deleted or another node has the call.
    public func body(of call: WebhookDelivery) async throws -> Data? {
        guard case .job(let id, var body) = call.content else { return nil }
        if body == nil {
            guard var record = try await records.job(id, of: call.tenant) else { return nil }
            record.callback = nil
            let access = try await access(openedBy: record)
            let made = TokenTemplate(
                try JSON.encode(JobBody(record, access: access, self)), hiding: access.map(\.token),
                keys: record.attachments.reduce(into: [:]) { $0.merge(self.keys(of: $1, by: $1.id.rawValue)) { $1 } })
            body = try await records.keep(made, of: call)
        }
        guard let body else { return nil }
        var keys: [RenditionKeyPlace: String] = [:]
        // An attachment stands for a link in these places.
        for id in Set(body.keys.map(\.link)) {
            let attachment = try await records.attachment(AttachmentID(rawValue: id), of: call.tenant)
            if let attachment { keys.merge(self.keys(of: attachment, by: id)) { $1 } }
        }
        return body.text(with: try await records.tokens(body.tokens, of: call.tenant), keys: keys)
    }

    /// The same for a record that was just read.
    func document(_ record: JobRecord) async throws -> Data {
        try JSON.encode(try await body(of: record))
    }

    func body(of record: JobRecord) async throws -> JobBody {
        JobBody(record, access: try await access(openedBy: record), self)
    }

    private func access(openedBy record: JobRecord) async throws -> [OpenedAccess] {
        // Only a delivery opens access.
        record.state == .delivered ? try await records.access(openedBy: record.id, of: record.tenant) : []
    }

    func document(_ record: AttachmentRecord) async throws -> AttachmentDocument {
        let access =
            record.state == .delivered ? try await records.access(openedBy: record.job, of: record.tenant) : []
        return AttachmentDocument(record, access: access.first { $0.attachment == record.id }, self)
    }

    /// Waits until a job has come to its end, wherever it is worked on; at most until shortly after its deadline, where
    /// that is to come: a store that stalls then isn't waited for.
    ///
    /// - Returns: The job as it is then, or when the time is up.
    /// - Throws: ``Problem/notFound`` where it was deleted meanwhile.
    func waitForEnd(of record: JobRecord, within limit: Duration) async throws -> JobRecord {
        guard !record.state.isFinished else { return record }
        defer { RequestReading.current?.waited(until: records.time) }
        let end = ContinuousClock.now + limit
        var latest = record
        while true {
            let now = ContinuousClock.now
            let left = latest.deadlineAt.map { $0 - records.time } ?? .zero
            let promise = left > .zero ? now + left + Self.stall : end
            guard
                let found = try await jobs.finished(
                    record.id, of: record.tenant, within: min(end, promise) - now, known: latest)
            else { throw Problem.notFound }
            // An interrupted job gets another deadline.
            guard !found.state.isFinished, end > .now, found.deadlineAt != latest.deadlineAt else { return found }
            latest = found
        }
    }

    /// How long after a job's deadline its end is still waited for. The answer should be there a tenth of a second after the
    /// deadline, and has to be written, too.
    private static let stall: Duration = .milliseconds(75)
}
