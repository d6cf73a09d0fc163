public import SatchelCore
internal import Stores
public import FoundationEssentials
import Jobs
import Platform

extension Service {
    /// A job as the API shows it in answers, events and webhooks.
    ///
    /// - Parameter access: What the job opened when it delivered, as far as it still lives.
    func body(of record: JobRecord, access: [OpenedAccess]) -> JSONFields {
        [
            "id": record.id.rawValue, "state": record.state,
            "counts": Dictionary(grouping: record.attachments, by: \.state.rawValue).mapValues(\.count),
            "profile": record.profile, "mode": record.mode, "metadata": record.metadata,
            "createdAt": record.createdAt, "deadlineAt": record.deadlineAt, "finishedAt": record.finishedAt,
            "attachments": record.attachments.map { attachment in
                body(of: attachment, access: access.first { $0.attachment == attachment.id })
            },
            // Null also in what the webhook itself sends.
            "callback": record.callback,
        ]
    }

    /// An attachment as the API shows it.
    ///
    /// - Parameter access: What the job opened: a lease, or a link where the delivery is shared. Renditions have URLs while it
    ///   lives.
    private func body(of record: AttachmentRecord, access: OpenedAccess?) -> JSONFields {
        var source = record.source
        source.diagnosis = nil
        var renditions: [RenditionRole: JSONFields] = [:]
        for (role, rendition) in record.renditions {
            renditions[role] = [
                "uti": rendition.uti, "mediaType": rendition.mediaType, "width": rendition.width,
                "height": rendition.height, "duration": rendition.duration, "bytes": rendition.bytes,
                "sha256": rendition.sha256,
                "url": access.map { contentURL($0.token, role, rendition.mediaType) },
                "encryption": encryption(of: rendition, record.tenant),
            ]
        }
        let lease = access.map { access -> JSONFields in ["id": access.id, "expiresAt": access.expiresAt] }
        return [
            "id": record.id.rawValue, "identifier": record.identifier, "state": record.state,
            "fidelity": record.fidelity, "result": record.result, "diagnosis": record.source.diagnosis,
            "kind": record.kind, "best": record.best, "source": source, "renditions": renditions,
            "options": record.options, "trim": record.trim, "contentSizeRatio": record.contentSizeRatio,
            "placeholder": record.placeholder, "lease": lease, "steps": record.steps,
            "expiresAt": record.expiresAt, "error": record.error,
        ]
    }

    /// An attachment that is looked at by itself, with what its job would say.
    func document(of record: AttachmentRecord, access: OpenedAccess?) -> JSONFields {
        body(of: record, access: access) + [
            "jobId": record.job.rawValue, "createdAt": record.createdAt, "finishedAt": record.finishedAt,
        ]
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
                try JSON.encode(self.body(of: record, access: access)), hiding: access.map(\.token),
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

    func body(of record: JobRecord) async throws -> JSONFields {
        body(of: record, access: try await access(openedBy: record))
    }

    private func access(openedBy record: JobRecord) async throws -> [OpenedAccess] {
        // Only a delivery opens access.
        record.state == .delivered ? try await records.access(openedBy: record.id, of: record.tenant) : []
    }

    func document(_ record: AttachmentRecord) async throws -> JSONFields {
        let access =
            record.state == .delivered ? try await records.access(openedBy: record.job, of: record.tenant) : []
        return document(of: record, access: access.first { $0.attachment == record.id })
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
