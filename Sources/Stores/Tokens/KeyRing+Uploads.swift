internal import Attachments

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
