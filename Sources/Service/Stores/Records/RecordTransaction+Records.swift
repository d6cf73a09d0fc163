internal import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension RecordTransaction {
    /// Jobs with the attachments of their current generations, by their keys, in one round trip.
    func jobRecords(_ keys: [Int64]) throws -> [Int64: JobRecord] {
        guard !keys.isEmpty else { return [:] }
        let values: [SQLValue] = [.ints(keys.map { $0 })]
        let rows = try send([
            Statement(
                """
                SELECT jobs.*, profiles.name AS profile_name, queue.state AS queue_state, queue.attempt AS queue_attempt,
                    queue.deadline_at AS queue_deadline, queue.has_callback, calls.state AS call_state,
                    calls.attempt AS call_attempt, calls.due_at AS call_due, calls.node AS call_node, calls.reason
                FROM jobs JOIN profiles ON profiles.key = jobs.profile LEFT JOIN queue ON queue.job = jobs.key
                    LEFT JOIN calls ON calls.job = jobs.key AND calls.generation = jobs.generation
                WHERE jobs.key = ANY($1::bigint[])
                """, values),
            Statement(
                """
                SELECT attachments.* FROM attachments
                    JOIN jobs ON jobs.key = attachments.job AND jobs.generation = attachments.generation
                WHERE attachments.job = ANY($1::bigint[]) ORDER BY attachments.job, ordinal
                """, values),
            Statement(
                """
                SELECT renditions.*, encode(renditions.sha256, 'hex') AS hash FROM attachments
                    JOIN jobs ON jobs.key = attachments.job AND jobs.generation = attachments.generation
                    JOIN renditions ON renditions.tenant = attachments.tenant AND renditions.attachment = attachments.id
                WHERE attachments.job = ANY($1::bigint[])
                """, values),
        ])
        var jobs: [Int64: JobRecord] = [:]
        var running: Set<Int64> = []
        for row in rows[0] {
            let key = try row.int64("key")
            jobs[key] = try JobRecord(row)
            if try row.optionalText("queue_state") == "running" { running.insert(key) }
        }
        let renditions = try Self.renditions(rows[2])
        for row in rows[1] {
            let key = try row.int64("job")
            guard let job = jobs[key] else { continue }
            let record = try AttachmentRecord(row, job: job.id, isRunning: running.contains(key), renditions)
            jobs[key]?.attachments.append(record)
        }
        return jobs
    }

    func jobRecord(_ key: Int64) throws -> JobRecord {
        guard let record = try jobRecords([key])[key] else { throw AttachmentError.notInStore(what: "This job") }
        return record
    }

    /// Those of these that are there.
    func jobRecords(_ ids: Set<JobID>, of tenant: TenantID) throws -> [JobRecord] {
        guard !ids.isEmpty else { return [] }
        let keys = try run(
            "SELECT key FROM jobs WHERE tenant = $1 AND id = ANY($2::text[])",
            [.raw(tenant), .raws(ids)]
        ).map { try $0.int64("key") }
        return Array(try jobRecords(keys).values)
    }

    static func renditions(_ rows: RecordRows) throws -> [String: [RenditionRole: Rendition]] {
        var renditions: [String: [RenditionRole: Rendition]] = [:]
        for row in rows {
            renditions[try row.text("attachment"), default: [:]][try row.value("role")] = try Rendition(row)
        }
        return renditions
    }

    /// Attachments of rows that have their job's name and whether it runs.
    func attachmentRecords(_ rows: RecordRows, of tenant: TenantID) throws -> [AttachmentRecord] {
        guard !rows.isEmpty else { return [] }
        let renditions = try Self.renditions(
            try run(
                "SELECT *, encode(sha256, 'hex') AS hash FROM renditions WHERE tenant = $1 AND attachment = ANY($2::uuid[])",
                [.raw(tenant), .uuids(try rows.map { try $0.text("id") })]))
        return try rows.map { row in
            try AttachmentRecord(
                row, job: try row.value("job_id"), isRunning: row.bool("is_running"), renditions)
        }
    }

    /// Those of these that are there.
    func attachmentRecords(_ ids: Set<AttachmentID>, of tenant: TenantID) throws -> [AttachmentRecord] {
        guard !ids.isEmpty else { return [] }
        return try attachmentRecords(
            try run(
                "SELECT \(Self.attachmentColumns) FROM attachments WHERE tenant = $1 AND id = ANY($2::uuid[])",
                [.raw(tenant), .uuids(ids.map(\.rawValue))]),
            of: tenant)
    }

    /// What ``attachmentRecords(_:of:)`` wants to know of an attachment.
    static let attachmentColumns = """
        attachments.*, (SELECT id FROM jobs WHERE key = attachments.job) AS job_id,
        EXISTS (SELECT 1 FROM queue WHERE queue.job = attachments.job AND queue.state = 'running') AS is_running
        """
}

extension JobRecord {
    /// Reads a row of ``RecordTransaction/jobRecords(_:)``, without its attachments.
    fileprivate init(_ row: RecordRow) throws {
        let queueState: WorkState? = try row.optionalValue("queue_state")
        let deadline = queueState == nil ? "deadline_at" : "queue_deadline"
        self.init(
            id: try row.value("id"), tenant: try row.value("tenant"),
            state: try queueState ?? row.value("state"), profile: try row.text("profile_name"),
            mode: try row.value("mode"), priority: try row.int("priority") == 0 ? .interactive : .bulk,
            metadata: try row.json("metadata"),
            generation: try row.int("generation"),
            attempt: try queueState == nil ? row.int("attempt") : row.int("queue_attempt"),
            createdAt: try row.instant("created_at"), deadlineAt: try row.optionalInstant(deadline),
            finishedAt: try row.optionalInstant("finished_at"), attachments: [])
        // No command asks for a call.
        guard try row.text("run").isEmpty else { return }
        if queueState != nil {
            if try row.bool("has_callback") { callback = WebhookReport(state: .waiting) }
        } else if let state = try row.optionalText("call_state") {
            callback = WebhookReport(
                state: try .init(column: state), attempts: try row.int("call_attempt"),
                dueAt: try row.instant("call_due"), isUnderway: try row.optionalText("call_node") != nil,
                reason: try row.optionalText("reason"))
        }
    }
}

extension AttachmentRecord {
    fileprivate init(
        _ row: RecordRow, job: JobID, isRunning: Bool, _ renditions: [String: [RenditionRole: Rendition]]
    ) throws {
        let details: AttachmentDetails = try row.json("details")
        let id = try row.text("id")
        let state: WorkState = try row.value("state")
        self.init(
            id: AttachmentID(rawValue: id), tenant: try row.value("tenant"), job: job,
            identifier: try row.text("identifier"), state: state == .pending && isRunning ? .running : state,
            source: details.source, options: details.options, createdAt: try row.instant("created_at"))
        fidelity = try row.optionalValue("fidelity")
        kind = try row.optionalValue("kind")
        best = try row.optionalValue("best")
        trim = details.trim
        contentSizeRatio = details.contentSizeRatio
        placeholder = details.placeholder
        steps = details.steps
        error = details.error
        finishedAt = try row.optionalInstant("finished_at")
        expiresAt = try row.optionalInstant("expires_at")
        if state == .delivered { self.renditions = renditions[id] ?? [:] }
    }
}

extension Rendition {
    /// Of a row of `renditions`, whose hash is written out.
    init(_ row: RecordRow) throws {
        self.init(
            mediaType: try row.value("media_type"), width: try row.optionalInt("width").map { Int($0) },
            height: try row.optionalInt("height").map { Int($0) }, duration: try row.optionalDouble("duration"),
            bytes: try row.int64("bytes"), sha256: try row.text("hash"), encryption: try SealedEncryption(row))
    }
}

extension SealedEncryption {
    /// Of a row of `renditions`; nil where that isn't encrypted.
    init?(_ row: RecordRow) throws {
        guard let scheme: EncryptionScheme = try row.optionalValue("scheme"),
            let kid = try row.optionalText("key_kid"), let box = try row.optionalBytes("key")
        else { return nil }
        self.init(scheme: scheme, kid: kid, box: Data(box))
    }
}
