internal import SatchelCore
internal import Crypto
internal import FoundationEssentials

extension KeyRing {
    /// What a token stands for right now. Malformed, unknown, expired and revoked ones cost what a good one costs: one
    /// look-up, one derivation, one comparison in constant time.
    ///
    /// - Parameter found: The entry with the token's ``TokenFormat/id(in:)``.
    func entry<Entry: TokenEntry>(
        _ found: Entry?, of token: AccessToken, _ kinds: [TokenKind], at now: Instant
    ) -> Entry? {
        let parsed = TokenFormat.parse(token.secretText)
        let expected = self.token(parsed?.kind ?? .link, id: TokenFormat.id(in: token), kid: found?.kid)
        // swift-crypto compares two digests in constant time; over digests, neither length nor prefix shows.
        let isRight =
            SHA256.hash(data: Data((expected?.secretText ?? "").utf8)) == SHA256.hash(data: Data(token.secretText.utf8))
        guard isRight, expected != nil, let found, kinds.contains(found.token), found.token == parsed?.kind,
            found.isLive(at: now)
        else { return nil }
        return found
    }

    /// The tokens of what lives, by its ids.
    func tokens(of entries: [any TokenEntry], at now: Instant) -> [String: AccessToken] {
        var tokens: [String: AccessToken] = [:]
        for entry in entries where entry.isLive(at: now) {
            tokens[entry.tokenID] = token(entry.token, id: entry.tokenID, kid: entry.kid)
        }
        return tokens
    }

    /// Fresh tokens, made with the current key.
    func newTokens(_ kind: TokenKind, _ count: Int) throws(AttachmentError) -> [NewToken] {
        let kid: String
        do { kid = try current() } catch { throw AttachmentError(storing: error) }
        return try (0..<count).map { _ throws(AttachmentError) in
            let id = TokenFormat.newID()
            guard let token = token(kind, id: id, kid: kid) else {
                throw .storeFailed(reason: "the key of a new token was removed")
            }
            return NewToken(id: id, kid: kid, token: token)
        }
    }
}

/// What a derived token stands for.
protocol TokenEntry: Sendable {
    /// The id in its token.
    var tokenID: String { get }
    var token: TokenKind { get }
    /// The key that its token is derived with.
    var kid: String { get }
    func isLive(at now: Instant) -> Bool
}

extension AccessEntry: TokenEntry {
    var tokenID: String { id }
    var token: TokenKind { kind.token }
}

extension Ticket: TokenEntry {
    var tokenID: String { id }
    var token: TokenKind { kind.token }
}
