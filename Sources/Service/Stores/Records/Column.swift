internal import SatchelCore
internal import Platform
internal import Crypto
internal import FoundationEssentials
internal import Synchronization

/// What of an attachment is shown but never searched; a JSON column.
struct AttachmentDetails: Codable {
    var source: SourceFacts
    var options: DisplayOptions
    @Nullable var trim: TrimReport?
    @Nullable var contentSizeRatio: Double?
    @Nullable var placeholder: Placeholder?
    var steps: [Step]
    @Nullable var error: ErrorReport?

    init(source: SourceFacts, options: DisplayOptions, steps: [Step] = [], error: ErrorReport? = nil) {
        self.source = source
        self.options = options
        self.steps = steps
        self.error = error
    }
}

/// JSON inside the database: keys as they are, sorted, so that equal values are equal texts.
enum Column {
    /// Equal values give equal texts, which digests and comparisons need.
    static func text(_ value: some Encodable) throws -> String {
        try text(value, .sortedKeys)
    }

    /// For what is only read again: sorting is a sixth of what the text of a notification costs.
    static func unsortedText(_ value: some Encodable) throws -> String {
        try text(value, [])
    }

    private static func text(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union(.withoutEscapingSlashes)
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    static func digest(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).hexadecimal
    }
}

/// Profiles in the database. Few are in use at a time, each by thousands of jobs: the latest is remembered both ways.
enum ProfileColumn {
    private struct Known: Sendable {
        var profile: Profile
        var text: String
    }

    private static let latest = Mutex<Known?>(nil)

    static func text(_ profile: Profile) throws -> String {
        if let known = latest.withLock(\.self), known.profile == profile { return known.text }
        let text = try Column.text(profile)
        latest.withLock { $0 = Known(profile: profile, text: text) }
        return text
    }

    static func value(from text: String) throws -> Profile {
        if let known = latest.withLock(\.self), known.text == text { return known.profile }
        let profile = try Column.value(Profile.self, from: text)
        latest.withLock { $0 = Known(profile: profile, text: text) }
        return profile
    }
}

/// A submission as the queue keeps it: its profile is kept apart, once for all, and the headers for origins encrypted.
struct StoredSubmission {
    var body: String
    var profile: String
    var digest: String
    var secrets: SealedSecrets?

    init(_ submission: JobSubmission, keys: KeyRing) throws {
        profile = try ProfileColumn.text(submission.profile)
        let slim = Self.slim(submission)
        let text = try Column.text(slim)
        digest = submission.bodyDigest ?? Column.digest(text + profile)
        secrets = try SealedSecrets(of: submission, keys: keys)
        body = secrets == nil ? text : try Column.text(slim.withoutSecrets)
    }

    private static func slim(_ submission: JobSubmission) -> JobSubmission {
        var slim = submission
        slim.profile = Profile(name: submission.profile.name)
        // The run does not change the work.
        slim.run = nil
        return slim
    }
}

extension ClaimSource {
    /// The value of the column `run`.
    var run: String {
        switch self {
        case .lane: ""
        case .run(let run): run.rawValue
        }
    }
}

extension JobPriority {
    /// The priorities in the order in which jobs are claimed.
    static let inOrder = allCases.sorted { $0.rank < $1.rank }

    /// The lower is claimed first.
    var rank: Int {
        switch self {
        case .interactive: 0
        case .bulk: 1
        }
    }
}

extension SourceLocation {
    /// What was handed in.
    var sourceName: SourceName? {
        if case .spool(let name) = self { name } else { nil }
    }
}
