/// What a token is for; the raw value is its prefix.
public enum TokenKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// An API key: stored hashed, shown once.
    case apiKey = "satk_"
    case grant = "satg_"
    case lease = "satl_"
    case link = "satn_"
    /// A ticket to respond to a notification.
    case respond = "satr_"
    /// A ticket to see a preview.
    case preview = "satp_"
    /// A ticket to upload.
    case upload = "satu_"
}

/// A bearer token as text. Prints as its first 8 characters; the whole is ``secretText``.
public struct AccessToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The whole token. For the one it was made for, never for a log.
    public let secretText: String

    public init(secretText: String) {
        self.secretText = secretText
    }

    /// Characters of a token that may be shown: enough to tell tokens apart, and no secret.
    static let shownLength = 8

    public var description: String { secretText.prefix(Self.shownLength) + "…" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
