internal import SatchelCore
internal import Crypto

/// A key that tokens are derived from.
struct TokenKey: Sendable {
    var kid: String
    var createdAt: Instant
    var key: SymmetricKey

    static func new() -> TokenKey {
        TokenKey(
            kid: TokenFormat.base62((0..<6).map { _ in UInt8.random(in: .min ... .max) }, length: 8),
            createdAt: .wallClock(), key: SymmetricKey(size: .bits256))
    }
}

/// Where the keys are kept that all who use a store share.
protocol KeyStorage: Sendable {
    /// What messages call it.
    var name: String { get }

    /// Tells one state of the keys from another, cheaply; nil where there are none.
    var version: KeyVersion? { get }

    /// The keys, the one for new tokens first; nil if there are none, or an operator asks for new ones.
    func load() throws(StoreError) -> (keys: [TokenKey], version: KeyVersion)?

    /// Replaces the keys, durably and at once, while no other process does the same.
    ///
    /// - Parameter body: Returns the new keys; none to change nothing.
    /// - Throws: `givenKeys` where they are another's to change.
    func change(_ body: ([TokenKey]) -> [TokenKey]) throws(StoreError)
}

/// One state of the keys.
struct KeyVersion: Hashable, Sendable {
    var inode: UInt64
    var seconds: Int
    var nanoseconds: Int
}
