/// One of the numbers that a tenant's webhook secrets are derived with.
public struct SigningNumber: Hashable, Sendable, Codable {
    public var number: Int
    public var createdAt: Instant
    /// From when on nothing is signed by it; nil for the current one.
    @Nullable public var endsAt: Instant?

    public init(_ number: Int, createdAt: Instant, endsAt: Instant? = nil) {
        self.number = number
        self.createdAt = createdAt
        self.endsAt = endsAt
    }
}

/// Which secrets a tenant's messages are signed with. A secret is derived from the store's keys, the tenant and a number, so
/// that a rotation is another number, and nothing of a secret is stored.
public struct SigningNumbers: Hashable, Sendable, Codable {
    /// Good at once, so that a message has no end of signatures.
    public static let most = 5

    /// The current one first.
    public private(set) var all: [SigningNumber]

    /// Of a tenant that never rotated them: made with the store's keys.
    public init() {
        all = [SigningNumber(0, createdAt: Instant(milliseconds: 0))]
    }

    public init(from decoder: any Decoder) throws {
        all = try [SigningNumber](from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try all.encode(to: encoder)
    }

    /// Those that messages are signed with now.
    public func live(at now: Instant) -> [SigningNumber] {
        all.filter { $0.endsAt.map { now < $0 } ?? true }
    }

    /// Puts another in front. What was good ends after the overlap, if it didn't end before.
    ///
    /// - Throws: `quota_exceeded` where too many would be good at once.
    public mutating func rotate(overlap: Duration, at now: Instant) throws(AttachmentError) {
        let end = now + max(overlap, .zero)
        var rotated = self
        rotated.all = live(at: now).map { number in
            SigningNumber(number.number, createdAt: number.createdAt, endsAt: min(number.endsAt ?? end, end))
        }
        let former = rotated.live(at: now)
        try QuotaSubject.signingSecrets.admit(former.count, of: Self.most)
        all = [SigningNumber((all.first?.number ?? 0) + 1, createdAt: now)] + former
    }
}
