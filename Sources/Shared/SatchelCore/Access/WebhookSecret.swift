public import FoundationEssentials

/// What a tenant's webhooks are signed with, by Standard Webhooks (https://www.standardwebhooks.com). It prints as what
/// it is, never as its bytes.
public struct WebhookSecret: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let bytes: Data

    public init(bytes: Data) {
        self.bytes = bytes
    }

    /// As a receiver's library takes it: `whsec_` and base64.
    public var text: String { "whsec_" + bytes.base64EncodedString() }

    public var description: String { "a callback's secret" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
