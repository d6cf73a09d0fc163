internal import Attachments
internal import Crypto
internal import FoundationEssentials

extension KeyRing {
    /// What a token stands for right now. Malformed, unknown, expired and revoked ones cost what a good one costs: one
    /// look-up, one derivation, one comparison in constant time.
    ///
    /// - Parameter find: The access of this id.
    func entry(
        of token: AccessToken, _ kinds: [AccessEntry.Kind], at now: Instant, find: (String) throws -> AccessEntry?
    ) rethrows -> AccessEntry? {
        let parsed = TokenFormat.parse(token.secretText)
        let id = parsed?.id ?? String(repeating: "0", count: TokenFormat.idLength)
        let found = try find(id)
        let expected = self.token(parsed?.kind ?? .link, id: id, kid: found?.kid)
        // swift-crypto compares two digests in constant time; over digests, neither length nor prefix shows.
        let isRight =
            SHA256.hash(data: Data((expected?.secretText ?? "").utf8)) == SHA256.hash(data: Data(token.secretText.utf8))
        guard isRight, expected != nil, let found, kinds.contains(found.kind), found.kind.token == parsed?.kind,
            found.isLive(at: now)
        else { return nil }
        return found
    }

    /// The tokens of access that lives, by its ids.
    func tokens(of access: [AccessEntry], at now: Instant) -> [String: AccessToken] {
        var tokens: [String: AccessToken] = [:]
        for entry in access where entry.isLive(at: now) {
            tokens[entry.id] = token(entry.kind.token, id: entry.id, kid: entry.kid)
        }
        return tokens
    }

    /// Fresh tokens of links, made with the current key.
    func newLinks(_ count: Int) throws(AttachmentError) -> [NewLink] {
        let kid: String
        do { kid = try current() } catch { throw AttachmentError(storing: error) }
        return try (0..<count).map { _ throws(AttachmentError) in
            let id = TokenFormat.newID()
            guard let token = token(.link, id: id, kid: kid) else {
                throw .storeFailed(reason: "the key of a new token was removed")
            }
            return NewLink(id: id, kid: kid, token: token)
        }
    }
}
