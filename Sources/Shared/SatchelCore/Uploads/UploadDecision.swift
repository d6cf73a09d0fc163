/// What somebody wants of an upload.
public enum UploadStep: Hashable, Sendable {
    /// A request is about to write: whoever wrote before is overtaken. It may say how long the whole is and, before any byte
    /// has come, what it is.
    case begin(UploadWriterID, length: Int64? = nil, UploadDescription = UploadDescription())
    /// So many bytes are durable, and that is where they are. Where they are all, nothing comes behind them.
    case advance(to: Int64, parts: UploadParts? = nil, isWhole: Bool = false, UploadWriterID)
    /// All bytes are there, and have this SHA-256.
    case complete(sha256: String, UploadWriterID)
    /// Its bytes are lost, or are not what was announced.
    case fail(AttachmentError, UploadWriterID)
    /// Nobody wants it any more.
    case cancel
    /// Its time is over, or room is needed.
    case expire
}

/// Why a step of an upload doesn't count. Nothing was written.
public enum UploadRefusal: Error, Hashable, Sendable {
    /// Another request writes by now.
    case overtaken
    /// It takes no bytes any more.
    case ended(UploadState)
    /// The whole is said to have another length than before, or less than has arrived.
    case otherLength(Int64)
    /// More bytes than its length has room for.
    case tooLong(Int64)
    /// All bytes are needed, and some are missing.
    case incomplete
}

/// What a step comes to.
public struct UploadChange: Hashable, Sendable {
    public var record: UploadRecord
    /// To be told of it.
    public var call: OutgoingCall?
    /// To be submitted, in the same transaction and after the record: it is there then, and may be used.
    public var job: JobSubmission?
    /// What became of the job; the store's answer.
    public var submitted: JobRecord?

    public init(record: UploadRecord, call: OutgoingCall? = nil, job: JobSubmission? = nil) {
        self.record = record
        self.call = call
        self.job = job
    }
}

/// What becomes of an upload: decisions that are the same for every store, which carries them out in one transaction.
public enum UploadDecision {
    /// - Parameter call: Names what is told of it, so that a transaction that is done again tells it once.
    public static func change(
        _ record: UploadRecord, by step: UploadStep, call: String, at now: Instant
    ) -> Result<UploadChange, UploadRefusal> {
        var record = record
        switch step {
        case .cancel:
            guard record.state.holdsBytes else {
                record.isClosed = true
                return .success(UploadChange(record: record))
            }
            return .success(end(record, as: .cancelled, nil, call: call, at: now))
        case .expire:
            guard record.state.holdsBytes else { return .failure(.ended(record.state)) }
            return .success(end(record, as: .expired, nil, call: call, at: now))
        case .begin, .advance, .complete, .fail: break
        }
        guard record.state == .open else { return .failure(.ended(record.state)) }
        guard record.expiresAt > now else { return .failure(.ended(.expired)) }
        switch step {
        case .begin(let writer, let length, let description):
            if let length {
                guard record.length.map({ $0 == length }) ?? (length >= record.offset) else {
                    return .failure(.otherLength(record.length ?? record.offset))
                }
                record.length = length
            }
            if record.offset == 0 { record.terms = record.terms.completed(by: description) }
            record.writer = writer
            return .success(UploadChange(record: record))
        case .advance(let offset, let parts, let isWhole, let writer):
            guard record.writer == writer else { return .failure(.overtaken) }
            if let length = record.length, offset > length { return .failure(.tooLong(length)) }
            // Who was slower than another part of the same request has nothing to tell.
            guard offset >= record.offset else { return .success(UploadChange(record: record)) }
            if isWhole, offset != record.length ?? offset { return .failure(.incomplete) }
            if var parts {
                parts.isWhole = isWhole
                record.parts = parts
            }
            if offset > record.offset { record.touchedAt = now }
            record.offset = offset
            if isWhole { record.length = offset }
            return .success(UploadChange(record: record))
        case .complete(let sha256, let writer):
            guard record.writer == writer else { return .failure(.overtaken) }
            guard record.offset == record.length ?? record.offset else { return .failure(.incomplete) }
            record.length = record.offset
            if let expected = record.terms.sha256, expected != sha256 {
                return .success(end(record, as: .failed, .checksumMismatch, call: call, at: now))
            }
            record.sha256 = sha256
            record.state = .complete
            record.parts = nil
            record.touchedAt = now
            let job = job(of: record)
            record.terms.forgetSecrets()
            return .success(
                UploadChange(
                    record: record, call: UploadEvent(record, .uploadCompleted, at: now).call(call), job: job))
        case .fail(let error, let writer):
            guard record.writer == writer else { return .failure(.overtaken) }
            return .success(end(record, as: .failed, error, call: call, at: now))
        case .cancel, .expire: return .failure(.ended(record.state))
        }
    }

    /// What is submitted for an upload that is whole.
    private static func job(of record: UploadRecord) -> JobSubmission? {
        guard var job = record.terms.job else { return nil }
        for index in job.attachments.indices where job.attachments[index].upload?.upload == record.id {
            job.attachments[index].take(record)
        }
        return job
    }

    private static func end(
        _ record: UploadRecord, as state: UploadState, _ error: AttachmentError?, call: String, at now: Instant
    ) -> UploadChange {
        var record = record
        record.state = state
        record.parts = nil
        record.terms.forgetSecrets()
        record.finishedAt = now
        record.error = error.map { ErrorReport($0) }
        // Whoever cancels knows.
        guard state != .cancelled else { return UploadChange(record: record) }
        return UploadChange(record: record, call: UploadEvent(record, .uploadExpired, at: now).call(call))
    }

    /// Gives an upload to a job or a notification, which alone has it from then on.
    ///
    /// - Parameter isKept: Whether its bytes are still there where it was given away before.
    /// - Throws: `upload_incomplete`, `upload_consumed`.
    public static func use(
        _ record: UploadRecord, by use: UploadUse, isKept: Bool, at now: Instant
    ) throws(AttachmentError) -> UploadRecord {
        var record = record
        switch record.state {
        case .complete where record.expiresAt > now:
            record.state = .consumed
            record.usedBy = use.subject
            record.finishedAt = now
            return record
        case .consumed where record.usedBy == use.subject && isKept: return record
        case .consumed: throw .uploadConsumed
        case .open, .complete, .expired, .failed, .cancelled: throw .uploadIncomplete(record.state)
        }
    }

    /// Whether a tenant may have another upload, or more bytes.
    ///
    /// - Parameters:
    ///   - usage: What it has.
    ///   - added: What would come to it.
    /// - Throws: `quota_exceeded`.
    public static func admit(
        _ usage: UploadUsage, adding added: UploadUsage, within quotas: Quotas
    ) throws(AttachmentError) {
        var sum = usage
        sum += added
        if added.open > 0, let limit = quotas.openUploads, sum.open > limit {
            throw .quotaExceeded(.openUploads, used: Int64(usage.open), allowed: Int64(limit))
        }
        if added.counted > 0, let limit = quotas.uploadBytes, sum.counted > limit {
            throw .quotaExceeded(.uploadBytes, used: usage.counted, allowed: limit)
        }
    }
}

extension AttachmentSubmission {
    /// Takes an upload that is whole as its source. What it says of itself stands.
    public mutating func take(_ upload: UploadRecord) {
        location = .spool(name: upload.source)
        sha256 = upload.sha256
        name = name ?? upload.terms.name
        declaredType = declaredType ?? type(of: upload.terms)
    }

    /// The hint that came with the upload, else the extension of its name.
    private func type(of terms: UploadTerms) -> String? {
        if let hint = terms.typeHint { return MediaType(declared: hint)?.rawValue ?? hint }
        return name.flatMap { $0.split(separator: ".").dropFirst().last }
            .flatMap { MediaType(declared: String($0))?.rawValue }
    }
}
