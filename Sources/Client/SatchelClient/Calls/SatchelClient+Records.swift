import Foundation

extension SatchelClient {
    /// A job as it is.
    public func job(_ id: String) async throws -> Job {
        try await transport.send(Call("GET", "v1", "jobs", id)).decode(Job.self)
    }

    /// Jobs, newest first.
    ///
    /// - Parameters:
    ///   - state: Only those in this state; all where nil.
    ///   - cursor: The page before's ``Page/next``.
    ///   - limit: Of a page; the service's own where nil.
    public func jobs(state: WorkState? = nil, after cursor: String? = nil, limit: Int? = nil) async throws -> Page<Job>
    {
        try await jobs(where: SearchFilter(state: state), after: cursor, limit: limit)
    }

    /// Jobs that fit a filter, newest first. A page may have fewer than were asked for, or none, with more to come.
    ///
    /// - Parameters:
    ///   - filter: All of it must hold.
    ///   - cursor: The page before's ``Page/next``, which alone tells the end.
    ///   - limit: Of a page; the service's own where nil.
    public func jobs(
        where filter: SearchFilter, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<Job> {
        var call = Call("GET", "v1", "jobs")
        call.add(filter, after: cursor, limit: limit)
        let list = try await transport.send(call).decode(JobList.self)
        return Page(elements: list.jobs, next: list.next)
    }

    /// Cancels a job that isn't finished; releases everything that a finished one holds, access first.
    public func delete(job id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "jobs", id))
    }

    /// Cancels a job. A finished one stays as it is.
    ///
    /// - Returns: What the job is now.
    @discardableResult
    public func cancel(_ id: String) async throws -> Job {
        let job = try await job(id)
        // Deleting is what cancels; a job that came to its end in between would be gone.
        guard !job.state.isFinished else { return job }
        let answer = try await transport.send(Call("DELETE", "v1", "jobs", id))
        return answer.body.isEmpty ? job : try answer.decode(Job.self)
    }

    public func attachment(_ id: String) async throws -> AttachmentRecord {
        try await transport.send(Call("GET", "v1", "attachments", id)).decode(AttachmentRecord.self)
    }

    /// Attachments, newest first.
    public func attachments(
        state: WorkState? = nil, kind: MediaKind? = nil, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<AttachmentRecord> {
        try await attachments(where: SearchFilter(state: state, kind: kind), after: cursor, limit: limit)
    }

    /// Attachments that fit a filter, newest first; pages as of ``jobs(where:after:limit:)``.
    public func attachments(
        where filter: SearchFilter, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<AttachmentRecord> {
        var call = Call("GET", "v1", "attachments")
        call.add(filter, after: cursor, limit: limit)
        let list = try await transport.send(call).decode(AttachmentList.self)
        return Page(elements: list.attachments, next: list.next)
    }

    /// Deletes an attachment; all its access is revoked when this returns.
    public func delete(attachment id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "attachments", id))
    }

    /// The profiles, and what the service takes whatever the profile.
    public func profiles() async throws -> ProfileList {
        try await transport.send(Call("GET", "v1", "profiles")).decode(ProfileList.self)
    }
}
