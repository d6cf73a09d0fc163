public import SatchelCore

/// What requests are signed with. It doesn't print.
public struct S3Credentials: Hashable, Sendable {
    public var accessKey: String
    public var secretKey: String
    /// Of credentials that are lent.
    public var sessionToken: String?
    /// When they end; nil for those that don't.
    public var expiresAt: Instant?

    public init(accessKey: String, secretKey: String, sessionToken: String? = nil, expiresAt: Instant? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expiresAt = expiresAt
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "credentials of \(accessKey)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
