public import Foundation

/// A filter for jobs or attachments. All given conditions must match.
public struct SearchFilter: Hashable, Sendable {
    public var state: WorkState?
    /// The identifier of an attachment, or of one in a job.
    public var kind: MediaKind?
    /// The error code of a failed attachment.
    public var code: SatchelError.Code?
    /// The name of the job's profile.
    public var profile: String?
    public var identifier: String?
    /// The earliest creation time.
    public var since: Date?
    /// The latest creation time.
    public var before: Date?
    /// Up to 10 pairs of the job's metadata. Only a job's first 20 pairs by key, with values of at most 200 bytes, are searchable.
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
    /// The query items of a list and its page.
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
