public import SatchelCore

/// What became of the wish to try all jobs again that failed with a code.
public struct RetryCounts: Hashable, Sendable {
    /// Pending again.
    public var accepted = 0
    /// Jobs of which is no longer kept what they were made from: they have to be submitted again.
    public var forgotten = 0
    /// Where the jobs are that nobody has looked at; nil where there are no more.
    public var next: String?
}

/// Of the jobs that are tried again together, so many make one commit of their writes: however many there are, others' writes
/// wait for no more than these.
private let jobsTogether = 32

extension RecordStore {
    /// Tries the failed jobs of a tenant again of whose attachments one failed with a code, newest first. A job that delivered
    /// something is none of them.
    ///
    /// - Parameters:
    ///   - since: Failed then or later; nil for any time.
    ///   - cursor: ``RetryCounts/next`` of the part before.
    ///   - limit: So many jobs are looked at; nil for all.
    ///   - handler: Told of each job that is pending again.
    public func retryAll(
        failedWith code: ErrorCode, since: Instant?, of tenant: TenantID, after cursor: String? = nil,
        limit: Int? = nil, handler: @Sendable (JobRecord) -> Void = { _ in }
    ) async throws(AttachmentError) -> RetryCounts {
        var counts = RetryCounts(next: cursor)
        var left = limit ?? .max
        repeat {
            let page = try await jobs(
                of: tenant, where: RecordFilter(state: .failed, code: code), after: counts.next,
                limit: min(left, jobsTogether))
            let wanted = page.elements.filter { job in
                job.attachments.contains { attachment in
                    attachment.error?.code == code && since.map { $0 <= attachment.finishedAt ?? $0 } ?? true
                }
            }.map(\.id)
            let answers = await withTaskGroup { group in
                for id in wanted {
                    group.addTask { () async -> Result<RetryAnswer?, AttachmentError> in
                        do throws(AttachmentError) {
                            return .success(try await retry(id, of: tenant))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers {
                switch try answer.get() {
                case .accepted(let job):
                    counts.accepted += 1
                    handler(job)
                case .forgotten: counts.forgotten += 1
                case .unneeded, nil: break
                }
            }
            counts.next = page.next
            left -= page.elements.count
        } while counts.next != nil && left > 0
        return counts
    }
}
