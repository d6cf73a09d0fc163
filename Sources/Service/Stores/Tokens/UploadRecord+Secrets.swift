internal import SatchelCore
internal import FoundationEssentials

extension UploadRecord: TokenEntry {
    var tokenID: String { ticket }
    var token: TokenKind { .upload }
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
