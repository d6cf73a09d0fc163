public import SatchelCore

/// What one part of an expiry brought.
public struct Expiry: Hashable, Sendable {
    /// Attachments that were deleted.
    public var attachments: Int
    /// Blobs that nothing refers to any more.
    public var blobs: Int
    /// Where the next part begins; nil where there is none.
    public var next: ExpiryPlace?
}

/// How far a look at the attachments past their retention has come.
public struct ExpiryPlace: Hashable, Sendable {
    public var expiresAt: Instant
    /// The store's own: of those that end together, which was the last.
    public var key: Int64
}
