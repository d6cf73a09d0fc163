internal import SatchelCore
internal import Crypto
internal import FoundationEssentials

/// The secrets of a submission, encrypted: headers of its URLs, which may be credentials, and keys of its sources. A database
/// keeps copies of what was deleted (in its log, in backups) for longer than anybody knows.
struct SealedSecrets: Sendable {
    /// By attachments, in the order of the submission.
    private struct Contents: Codable {
        var headers: [Int: [String: String]] = [:]
        var keys: [Int: MediaEncryption.Key] = [:]
    }

    /// Names the key, which is outside the store.
    var kid: String
    var box: Data

    init(kid: String, box: Data) {
        self.kid = kid
        self.box = box
    }

    /// Nil where the submission has none.
    ///
    /// - Parameter kid: The key that encrypts them; nil for the current one.
    init?(of submission: JobSubmission, keys ring: KeyRing, kid named: String? = nil) throws {
        var contents = Contents()
        for (index, attachment) in submission.attachments.enumerated() {
            if case .url(_, let own) = attachment.location, !own.isEmpty { contents.headers[index] = own }
            contents.keys[index] = attachment.encryption?.key
        }
        guard !contents.headers.isEmpty || !contents.keys.isEmpty else { return nil }
        do {
            if let named { kid = named } else { kid = try ring.current() }
        } catch {
            throw AttachmentError.storeFailed(reason: error.description)
        }
        guard let key = ring.headerKey(kid) else {
            throw AttachmentError.storeFailed(reason: "the key for a submission's secrets was removed")
        }
        let text = try JSONEncoder().encode(contents)
        box =
            try AES.GCM.seal(text, using: key, authenticating: Self.context(submission.tenant)).combined ?? Data()
    }

    /// Puts them back. Where the key is gone, everything that it stood for is revoked: the submission stays without.
    func open(into submission: inout JobSubmission, keys ring: KeyRing) throws {
        guard let key = ring.headerKey(kid) else { return }
        let text = try AES.GCM.open(
            AES.GCM.SealedBox(combined: box), using: key, authenticating: Self.context(submission.tenant))
        let contents = try JSONDecoder().decode(Contents.self, from: text)
        for index in submission.attachments.indices {
            if let own = contents.headers[index], case .url(let url, _) = submission.attachments[index].location {
                submission.attachments[index].location = .url(url, headers: own)
            }
            if let key = contents.keys[index] { submission.attachments[index].encryption?.key = key }
        }
    }

    private static func context(_ tenant: TenantID) -> Data { Data(tenant.rawValue.utf8) }
}
