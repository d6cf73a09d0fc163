internal import SatchelCore
internal import Crypto
internal import FoundationEssentials

extension TokenFormat {
    /// A random key: nothing but its hash is needed to know it again.
    static func newAPIKey() -> (id: String, token: AccessToken) {
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let id = newID()
        return (id, AccessToken(secretText: compose(.apiKey, id: id, secret: secret)))
    }

    /// Whom a key stands for right now. Malformed, unknown, expired and revoked keys cost what a good one costs: one
    /// look-up, one hash, one comparison in constant time.
    ///
    /// - Parameter found: The key of the token's id, with the hash of its token.
    static func record(
        _ found: (APIKeyRecord, hash: String)?, of key: AccessToken, at now: Instant
    ) -> APIKeyRecord? {
        let expected = found?.hash ?? String(repeating: "0", count: 64)
        // swift-crypto compares two digests in constant time.
        let isRight = SHA256.hash(data: Data(expected.utf8)) == SHA256.hash(data: Data(key.hash.utf8))
        guard isRight, parse(key.secretText)?.kind == .apiKey, let record = found?.0, record.isGood(at: now) else {
            return nil
        }
        return record
    }
}

extension AccessToken {
    /// What is stored of a token that can't be derived again.
    var hash: String { Column.digest(secretText) }
}

extension APIKeyRecord {
    /// - Parameter tenant: Nil for anybody.
    func belongs(to tenant: TenantID?) -> Bool { tenant.map { $0 == self.tenant } ?? true }

    func isGood(at now: Instant) -> Bool {
        revokedAt == nil && expiresAt.map { $0 > now } ?? true
    }
}
