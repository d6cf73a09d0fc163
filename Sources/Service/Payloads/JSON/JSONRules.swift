/// What a text must keep to, beside being JSON (RFC 8259), for a reader to take it.
public struct JSONRules: Hashable, Sendable {
    /// Objects and arrays within each other, at most.
    public var depth: Int
    /// Of the text, at most.
    public var bytes: Int
    /// Members and elements of all objects and arrays, at most: each takes many times the bytes that it is written with.
    public var members: Int
    /// That every reader sees the same in it, by RFC 7493 (I-JSON): no key twice in an object, no lone surrogate.
    public var isInteroperable: Bool

    public init(depth: Int, bytes: Int, members: Int, isInteroperable: Bool) {
        self.depth = depth
        self.bytes = bytes
        self.members = members
        self.isInteroperable = isInteroperable
    }

    /// For what is passed on as it came: what it says is its reader's affair.
    public static let passedOn = JSONRules(depth: 64, bytes: 64 << 10, members: 32 << 10, isInteroperable: false)

    /// For what was passed on with additions of our own: to each of up to 100 messages, of which none is longer than 5120 bytes.
    public static let enriched = JSONRules(depth: 80, bytes: 1 << 20, members: 64 << 10, isInteroperable: false)
}
