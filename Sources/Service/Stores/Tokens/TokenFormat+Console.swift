internal import SatchelCore

extension TokenFormat {
    /// 256 random bits for a cookie or a code of the console: known again by its hash, and nothing of it says what it is.
    static func newConsoleToken() -> AccessToken {
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        return AccessToken(secretText: base62(secret, length: secretLength))
    }
}
