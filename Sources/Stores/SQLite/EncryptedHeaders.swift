internal import Attachments
internal import Crypto
internal import FoundationEssentials

/// The headers of a submission's URLs, encrypted: they may be credentials, and a database keeps copies of what was
/// deleted (in its log, in backups) for longer than anybody knows.
struct EncryptedHeaders: Sendable {
    /// Names the key, which is outside the store.
    var kid: String
    var box: Data

    init(kid: String, box: Data) {
        self.kid = kid
        self.box = box
    }

    /// Nil where the submission has none.
    init?(of submission: JobSubmission, keys: KeyRing) throws {
        var headers: [Int: [String: String]] = [:]
        for (index, attachment) in submission.attachments.enumerated() {
            if case .url(_, let own) = attachment.location, !own.isEmpty { headers[index] = own }
        }
        guard !headers.isEmpty else { return nil }
        do { kid = try keys.current() } catch { throw AttachmentError.storeFailed(reason: error.description) }
        guard let key = keys.headerKey(kid) else {
            throw AttachmentError.storeFailed(reason: "the key for an origin's headers was removed")
        }
        box =
            try AES.GCM.seal(
                JSONEncoder().encode(headers), using: key, authenticating: Self.context(submission.tenant)
            ).combined ?? Data()
    }

    /// Puts the headers back. Where the key is gone, everything that it stood for is revoked: the submission stays
    /// without.
    func open(into submission: inout JobSubmission, keys: KeyRing) throws {
        guard let key = keys.headerKey(kid) else { return }
        let text = try AES.GCM.open(
            AES.GCM.SealedBox(combined: box), using: key, authenticating: Self.context(submission.tenant))
        for (index, own) in try JSONDecoder().decode([Int: [String: String]].self, from: text)
        where submission.attachments.indices.contains(index) {
            if case .url(let url, _) = submission.attachments[index].location {
                submission.attachments[index].location = .url(url, headers: own)
            }
        }
    }

    private static func context(_ tenant: TenantID) -> Data { Data(tenant.rawValue.utf8) }
}
