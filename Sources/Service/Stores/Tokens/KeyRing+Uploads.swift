internal import SatchelCore
internal import FoundationEssentials

extension UploadRecord {
    /// What its token stands for.
    struct Entry: TokenEntry {
        var record: UploadRecord

        var id: String { record.ticket }
        var token: TokenKind { .upload }
        var kid: String { record.kid }
        func isLive(at now: Instant) -> Bool { record.isLive(at: now) }
    }
}

// What a job that waits for an upload has of secrets is encrypted with the key that the upload's ticket is derived with: that is
// kept for as long as the upload takes bytes, and without it nobody could send it anyway.
extension UploadRecord {
    /// As it is written.
    func sealed(by keys: KeyRing) throws -> UploadRecord {
        guard let job = terms.job, let secrets = try SealedSecrets(of: job, keys: keys, kid: kid) else { return self }
        var record = self
        record.terms.job = job.withoutSecrets
        record.terms.jobSecrets = secrets.box
        return record
    }

    /// What it submits, complete.
    ///
    /// - Parameter job: As it is written.
    func opened(_ job: JobSubmission, by keys: KeyRing) throws -> JobSubmission {
        guard let box = terms.jobSecrets else { return job }
        var job = job
        try SealedSecrets(kid: kid, box: box).open(into: &job, keys: keys)
        return job
    }
}

extension KeyRing {
    /// The upload that a token opens right now.
    func upload(
        of token: AccessToken, at now: Instant, find: (String) throws -> UploadRecord?
    ) rethrows -> UploadRecord? {
        try entry(of: token, [.upload], at: now) { id in
            try find(id).map { UploadRecord.Entry(record: $0) }
        }?.record
    }
}
