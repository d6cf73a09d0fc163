internal import SatchelCore
internal import Platform
internal import Crypto
internal import FoundationEssentials
internal import GRDB
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

extension Row {
    func instant(_ column: String) -> Instant? {
        (self[column] as Int64?).map(Instant.init(milliseconds:))
    }

    func choice<Choice: RawRepresentable<String>>(_ column: String) throws -> Choice {
        guard let text = self[column] as String?, let choice = Choice(rawValue: text) else {
            throw AttachmentError.storeFailed(reason: "the records: an unknown \(column)")
        }
        return choice
    }
}

extension Rendition {
    /// Of a row of `renditions` joined with its blob's.
    init(_ row: Row) throws {
        self.init(
            mediaType: try row.choice("media_type"), width: row["width"], height: row["height"],
            duration: row["duration"], bytes: row["bytes"], sha256: row["sha256"], encryption: SealedEncryption(row))
    }
}

extension SealedEncryption {
    /// Of a row of `renditions`; nil where that isn't encrypted.
    init?(_ row: Row) {
        guard let scheme = (row["scheme"] as String?).flatMap(EncryptionScheme.init(rawValue:)),
            let kid = row["key_kid"] as String?, let box = row["key"] as Data?
        else { return nil }
        self.init(scheme: scheme, kid: kid, box: box)
    }
}

extension Database {
    /// The job of a row of `jobs`, with the attachments of its current generation.
    func jobRecord(_ row: Row) throws -> JobRecord {
        let key: Int64 = row["key"]
        let generation: Int = row["generation"]
        let profile = try texts("SELECT name FROM profiles WHERE key = ?", [row["profile"] as Int64]).first ?? ""
        let priority: Int = row["priority"]
        var record = JobRecord(
            id: JobID(rawValue: row["id"]), tenant: TenantID(rawValue: row["tenant"]),
            state: try row.choice("state"), profile: profile, mode: try row.choice("mode"),
            priority: priority == 0 ? .interactive : .bulk,
            metadata: try Column.value([String: String].self, from: row["metadata"]),
            generation: generation, attempt: row["attempt"],
            createdAt: Instant(milliseconds: row["created_at"]), deadlineAt: row.instant("deadline_at"),
            finishedAt: row.instant("finished_at"),
            attachments: try rows(
                "SELECT * FROM attachments WHERE job = ? AND generation = ? ORDER BY ordinal", [key, generation]
            ).map { try attachmentRecord($0, job: JobID(rawValue: row["id"])) })
        // No command asks for a call.
        if (row["run"] as String).isEmpty { record.callback = try webhookReport(of: row) }
        return record
    }

    func jobRecord(_ id: JobID, of tenant: TenantID) throws -> JobRecord? {
        try row("SELECT * FROM jobs WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue]).map(jobRecord)
    }

    func jobRecord(key: Int64) throws -> JobRecord {
        guard let row = try row("SELECT * FROM jobs WHERE key = ?", [key]) else {
            throw AttachmentError.notInStore(what: "This job")
        }
        return try jobRecord(row)
    }

    func attachmentRecord(_ row: Row, job: JobID) throws -> AttachmentRecord {
        let details = try Column.value(AttachmentDetails.self, from: row["details"])
        var record = AttachmentRecord(
            id: AttachmentID(rawValue: row["id"]), tenant: TenantID(rawValue: row["tenant"]), job: job,
            identifier: row["identifier"], state: try row.choice("state"), source: details.source,
            options: details.options, createdAt: Instant(milliseconds: row["created_at"]))
        record.fidelity = (row["fidelity"] as String?).flatMap(Fidelity.init(rawValue:))
        record.kind = (row["kind"] as String?).flatMap(MediaKind.init(rawValue:))
        record.best = (row["best"] as String?).flatMap(RenditionRole.init(rawValue:))
        record.trim = details.trim
        record.contentSizeRatio = details.contentSizeRatio
        record.placeholder = details.placeholder
        record.steps = details.steps
        record.error = details.error
        record.finishedAt = row.instant("finished_at")
        record.expiresAt = row.instant("expires_at")
        guard record.state == .delivered else { return record }
        let renditions = try rows(
            """
            SELECT role, media_type, width, height, duration, scheme, key, key_kid, blobs.sha256, blobs.bytes
            FROM renditions JOIN blobs ON blobs.name = renditions.blob
            WHERE renditions.tenant = ? AND renditions.attachment = ?
            """, [record.tenant.rawValue, record.id.rawValue])
        for row in renditions {
            record.renditions[try row.choice("role")] = try Rendition(row)
        }
        return record
    }

    /// An attachment of a tenant, with its job's name.
    func attachmentRecord(_ id: AttachmentID, of tenant: TenantID) throws -> AttachmentRecord? {
        guard
            let row = try row(
                "SELECT * FROM attachments WHERE tenant = ? AND id = ?", [tenant.rawValue, id.rawValue])
        else { return nil }
        return try attachmentRecord(row, job: jobID(key: row["job"]))
    }

    func jobID(key: Int64) throws -> JobID {
        guard let id = try texts("SELECT id FROM jobs WHERE key = ?", [key]).first else {
            throw AttachmentError.notInStore(what: "This job")
        }
        return JobID(rawValue: id)
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

    /// What tells that another submission is the same.
    static func digest(of submission: JobSubmission, profile: String) throws -> String {
        try submission.bodyDigest ?? Column.digest(Column.text(slim(submission)) + profile)
    }

    private static func slim(_ submission: JobSubmission) -> JobSubmission {
        var slim = submission
        slim.profile = Profile(name: submission.profile.name)
        // Who runs it doesn't make it other work.
        slim.run = nil
        return slim
    }
}

extension Database {
    func profileKey(_ profile: Profile, body: String) throws -> Int64 {
        let digest = Column.digest(body)
        if let key = try number("SELECT key FROM profiles WHERE digest = ?", [digest]) { return key }
        try run("INSERT INTO profiles (digest, name, body) VALUES (?, ?, ?)", [digest, profile.name, body])
        return lastInsertedRowID
    }

    func profile(key: Int64) throws -> Profile {
        guard let body = try texts("SELECT body FROM profiles WHERE key = ?", [key]).first else {
            throw AttachmentError.storeFailed(reason: "the records: a profile is missing")
        }
        return try ProfileColumn.value(from: body)
    }

    /// What was submitted under a row of `jobs`, but for the headers that are kept encrypted.
    func submission(_ row: Row) throws -> JobSubmission {
        guard let body = row["submission"] as String? else {
            throw AttachmentError.storeFailed(reason: "the records: a job has no submission")
        }
        return try submission(body, of: row)
    }

    func submission(_ body: String, of row: Row) throws -> JobSubmission {
        var submission = try Column.value(JobSubmission.self, from: body)
        submission.profile = try profile(key: row["profile"])
        // Work that was known by its key keeps the id under which it was recorded first.
        submission.id = JobID(rawValue: row["id"])
        submission.tenant = TenantID(rawValue: row["tenant"])
        let run: String = row["run"]
        submission.run = run.isEmpty ? nil : RunID(rawValue: run)
        return submission
    }
}
