public import SatchelCore
internal import Postgres

extension RecordStore {
    /// No page is longer than 1,000 elements.
    static func pageLength(_ wanted: Int) -> Int { min(max(wanted, 1), 1000) }
    /// A label that fewer jobs have is rare: then all of them are read.
    static let rareLabel = 1000

    public func job(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await read { work in
            try work.jobRecords([id], of: tenant).first
        }
    }

    /// Those of these jobs that are there; one that runs may count as pending.
    public func status(of jobs: Set<JobName>) async throws(AttachmentError) -> [JobName: JobStatus] {
        let names = Array(jobs)
        let isCluster = engine.cluster != nil
        do {
            return try await engine.look { [node] _ in
                Statement(
                    """
                    SELECT jobs.tenant, jobs.id, jobs.generation, jobs.state, queue.attempt,
                        \(isCluster ? "queue.node, NULLIF(nodes.url, '')" : "NULL AS node, NULL") AS url
                    FROM unnest($1::text[], $2::text[]) AS names (tenant, id)
                        JOIN jobs ON jobs.tenant = names.tenant AND jobs.id = names.id
                        LEFT JOIN queue ON queue.job = jobs.key AND queue.state = 'running' AND queue.node <> $3
                        \(isCluster ? "LEFT JOIN nodes ON nodes.id = queue.node" : "")
                    """, [.raws(names.map(\.tenant)), .raws(names.map(\.job)), .uuid(node.id)])
            } _: { rows in
                try rows.reduce(into: [:]) { status, row in
                    let name = JobName(
                        tenant: try row.value("tenant"), job: try row.value("id"))
                    var found = JobStatus(generation: try row.int("generation"), state: try row.value("state"))
                    if let node = try row.optionalText("node") {
                        found.remote = RemoteAttempt(
                            try row.int("attempt"), on: node, at: try row.optionalText("url"))
                    }
                    status[name] = found
                }
            }
        } catch {
            throw AttachmentError(reading: error)
        }
    }

    /// What became of work that is known by one of these keys, by its key.
    public func states(ofWork keys: [String], of tenant: TenantID) async throws(AttachmentError) -> [String: WorkState]
    {
        try await read { work in
            var states: [String: WorkState] = [:]
            let rows = try work.run(
                """
                SELECT work_key, coalesce(queue.state, jobs.state) AS state FROM jobs
                    LEFT JOIN queue ON queue.job = jobs.key
                WHERE jobs.tenant = $1 AND work_key = ANY($2::text[])
                """, [.raw(tenant), .texts(keys)])
            for row in rows { states[try row.text("work_key")] = try row.value("state") }
            return states
        }
    }

    /// The profiles of this name under which jobs were submitted, each as it was then.
    public func profiles(named name: String) async throws(AttachmentError) -> [Profile] {
        try await read { work in
            try work.run("SELECT body FROM profiles WHERE name = $1 ORDER BY key", [.text(name)]).map {
                try ProfileColumn.value(from: $0.text("body"))
            }
        }
    }

    /// Newest first. A page may have fewer elements than were asked for, or none, with more to come: where few of many fit
    /// the filter, it ends after so many were looked at.
    public func jobs(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<JobRecord> {
        try await read { work in
            let (places, next) = try work.places(
                in: .jobs, of: tenant, where: filter, after: cursor, limit: limit)
            let keys = places.compactMap { Int64($0) }
            let records = try work.jobRecords(keys)
            return Page(elements: keys.compactMap { records[$0] }, next: next)
        }
    }

    public func attachment(
        _ id: AttachmentID, of tenant: TenantID
    ) async throws(AttachmentError) -> AttachmentRecord? {
        try await read { work in
            try work.attachmentRecords([id], of: tenant).first
        }
    }

    /// Newest first; a page ends as one of ``jobs(of:where:after:limit:)``.
    public func attachments(
        of tenant: TenantID, where filter: RecordFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AttachmentRecord> {
        try await read { work in
            let (places, next) = try work.places(
                in: .attachments, of: tenant, where: filter, after: cursor, limit: limit)
            let rows = try work.run(
                """
                SELECT \(RecordTransaction.attachmentColumns) FROM attachments
                WHERE tenant = $1 AND id = ANY($2::uuid[]) ORDER BY id DESC
                """, [.raw(tenant), .uuids(places)])
            return Page(elements: try work.attachmentRecords(rows, of: tenant), next: next)
        }
    }

    /// The blob that holds a rendition.
    public func blob(
        of role: RenditionRole, of attachment: AttachmentID, tenant: TenantID
    ) async throws(AttachmentError) -> BlobName? {
        try await read { work in
            try work.run(
                "SELECT blob FROM renditions WHERE tenant = $1 AND attachment = $2 AND role = $3",
                [.raw(tenant), .uuid(attachment.rawValue), .raw(role)]
            ).first.map { BlobName(rawValue: try $0.text("blob")) }
        }
    }
}
