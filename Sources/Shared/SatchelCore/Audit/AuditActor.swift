/// Who does something that is written into the audit list.
public struct AuditActor: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The bearer of an API key, also one who signed in to the console with it.
        case key
        /// The bearer of a grant.
        case grant
        /// Whoever may use the command line, also one whom it signed in to the console.
        case command
        /// The service by itself.
        case service
    }

    public var kind: Kind
    /// Of the key or the grant; nil where there is none.
    @Nullable public var id: String?

    public init(_ kind: Kind, id: String? = nil) {
        self.kind = kind
        self.id = id
    }

    /// On whose behalf the current task changes records.
    @TaskLocal public static var current = AuditActor(.service)
}
