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

/// One state of the keys.
struct KeyVersion: Hashable, Sendable {
    var inode: UInt64
    var seconds: Int
    var nanoseconds: Int
}
