/// Somebody who signed in to the console: whose things are shown, and what may be done.
public struct ConsoleSession: Hashable, Sendable {
    public var tenant: TenantID
    public var roles: [AccessRole]
    /// The id of the API key that was signed in with; nil where it was a code of the command line.
    public var key: String?
    public var createdAt: Instant
    /// When it was last used by a person.
    public var usedAt: Instant
    /// However much it is used.
    public var endsAt: Instant

    public init(
        tenant: TenantID, roles: [AccessRole], key: String?, createdAt: Instant, usedAt: Instant, endsAt: Instant
    ) {
        self.tenant = tenant
        self.roles = roles
        self.key = key
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.endsAt = endsAt
    }

    /// Signed in with a key, whose end it doesn't outlive.
    public init(signedInWith key: APIKeyRecord, at now: Instant) {
        let end = now + ConsoleLimits.session
        self.init(
            tenant: key.tenant, roles: key.roles, key: key.id, createdAt: now, usedAt: now,
            endsAt: key.expiresAt.map { min($0, end) } ?? end)
    }

    /// Signed in with a code.
    public init(signedInWith code: ConsoleCode, at now: Instant) {
        self.init(
            tenant: code.tenant, roles: code.roles, key: nil, createdAt: now, usedAt: now,
            endsAt: now + ConsoleLimits.sessionOfCode)
    }

    /// Whether it is good, as far as that doesn't depend on its key.
    public func isLive(at now: Instant) -> Bool {
        now < endsAt && now < usedAt + ConsoleLimits.idle
    }

    /// Whether a use by a person is worth a write: not each is.
    public func needsNoting(at now: Instant) -> Bool {
        now >= usedAt + ConsoleLimits.noting
    }
}

/// What `satchel console` gives out: good once, for whoever has it first.
public struct ConsoleCode: Hashable, Sendable {
    public var tenant: TenantID
    public var roles: [AccessRole]
    public var createdAt: Instant
    public var expiresAt: Instant

    public init(tenant: TenantID, roles: [AccessRole], createdAt: Instant) {
        self.tenant = tenant
        self.roles = roles
        self.createdAt = createdAt
        expiresAt = createdAt + ConsoleLimits.code
    }

    public func isLive(at now: Instant) -> Bool { now < expiresAt }
}

/// How long one stays signed in.
public enum ConsoleLimits {
    /// A working day, and a bit.
    public static let session: Duration = .seconds(12 * 3600)
    public static let sessionOfCode: Duration = .seconds(3600)
    /// Without anything that a person did.
    public static let idle: Duration = .seconds(3600)
    public static let code: Duration = .seconds(300)
    /// Uses within this are noted once.
    public static let noting: Duration = .seconds(60)
}
