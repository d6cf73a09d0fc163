import Foundation

extension SatchelClient {
    /// Returns a job.
    public func job(_ id: String) async throws -> Job {
        try await transport.send(Call("GET", "v1", "jobs", id)).decode(Job.self)
    }

    /// Returns jobs, newest first.
    ///
    /// - Parameters:
    ///   - state: The state of the jobs; `nil` for all.
    ///   - cursor: ``Page/next`` of the previous page.
    ///   - limit: The maximum size of a page; `nil` for the service's default.
    public func jobs(state: WorkState? = nil, after cursor: String? = nil, limit: Int? = nil) async throws -> Page<Job>
    {
        try await jobs(where: SearchFilter(state: state), after: cursor, limit: limit)
    }

    /// Returns jobs that match a filter, newest first. A page may have fewer than `limit` jobs, or none, even if more follow.
    ///
    /// - Parameters:
    ///   - filter: The conditions, which must all match.
    ///   - cursor: ``Page/next`` of the previous page. It is `nil` at the end of the list only.
    ///   - limit: The maximum size of a page; `nil` for the service's default.
    public func jobs(
        where filter: SearchFilter, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<Job> {
        var call = Call("GET", "v1", "jobs")
        call.add(filter, after: cursor, limit: limit)
        let list = try await transport.send(call).decode(JobList.self)
        return Page(elements: list.jobs, next: list.next)
    }

    /// Deletes a job. An unfinished job is cancelled. For a finished job, access is revoked, then its files are deleted.
    public func delete(job id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "jobs", id))
    }

    /// Cancels a job. A finished job is not changed.
    ///
    /// - Returns: The job after the call.
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

    /// Returns attachments, newest first.
    public func attachments(
        state: WorkState? = nil, kind: MediaKind? = nil, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<AttachmentRecord> {
        try await attachments(where: SearchFilter(state: state, kind: kind), after: cursor, limit: limit)
    }

    /// Returns attachments that match a filter, newest first. For pages, see ``jobs(where:after:limit:)``.
    public func attachments(
        where filter: SearchFilter, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<AttachmentRecord> {
        var call = Call("GET", "v1", "attachments")
        call.add(filter, after: cursor, limit: limit)
        let list = try await transport.send(call).decode(AttachmentList.self)
        return Page(elements: list.attachments, next: list.next)
    }

    /// Deletes an attachment. All access to it is revoked when the call returns.
    public func delete(attachment id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "attachments", id))
    }

    /// Returns the profiles of the service, and its limits for all profiles.
    public func profiles() async throws -> ProfileList {
        try await transport.send(Call("GET", "v1", "profiles")).decode(ProfileList.self)
    }
}
