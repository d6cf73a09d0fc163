public import Foundation

/// What a list of jobs or attachments is narrowed to; all that is given must hold.
public struct SearchFilter: Hashable, Sendable {
    public var state: WorkState?
    /// Of jobs: that one of their attachments has.
    public var kind: MediaKind?
    /// With which an attachment failed.
    public var code: SatchelError.Code?
    /// The name of the job's.
    public var profile: String?
    public var identifier: String?
    /// Created then or later.
    public var since: Date?
    /// Created earlier.
    public var before: Date?
    /// Pairs of the job's metadata, at most 10. Of each job the first 20 by key are found whose values have at most 200 bytes.
    public var metadata: [String: String]

    public init(
        state: WorkState? = nil, kind: MediaKind? = nil, code: SatchelError.Code? = nil, profile: String? = nil,
        identifier: String? = nil, since: Date? = nil, before: Date? = nil, metadata: [String: String] = [:]
    ) {
        self.state = state
        self.kind = kind
        self.code = code
        self.profile = profile
        self.identifier = identifier
        self.since = since
        self.before = before
        self.metadata = metadata
    }
}

extension Call {
    /// A list's own parameters, and where its page begins.
    mutating func add(_ filter: SearchFilter, after cursor: String?, limit: Int?) {
        add("state", filter.state?.rawValue)
        add("kind", filter.kind?.rawValue)
        add("code", filter.code?.rawValue)
        add("profile", filter.profile)
        add("identifier", filter.identifier)
        add("since", filter.since.map(Wire.text))
        add("before", filter.before.map(Wire.text))
        for (key, value) in filter.metadata.sorted(by: { $0.key < $1.key }) { add("metadata." + key, value) }
        add("cursor", cursor)
        add("limit", limit.map(String.init))
    }
}
