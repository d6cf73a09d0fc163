/// What became of the wish to try all jobs again that failed with a code.
public struct RetryCounts: Hashable, Sendable, Codable {
    /// Pending again.
    public var accepted = 0
    /// Jobs of which is no longer kept what they were made from: they have to be submitted again.
    public var forgotten = 0

    public init(accepted: Int = 0, forgotten: Int = 0) {
        self.accepted = accepted
        self.forgotten = forgotten
    }
}

extension RecordStore {
    /// Tries all failed jobs of a tenant again of whose attachments one failed with a code. A job that delivered something is
    /// none of them.
    ///
    /// - Parameters:
    ///   - since: Failed then or later; nil for any time.
    ///   - heed: Told of each job that is pending again.
    public func retryAll(
        failedWith code: ErrorCode, since: Instant?, of tenant: TenantID, heed: @Sendable (JobRecord) -> Void = { _ in }
    ) async throws(AttachmentError) -> RetryCounts {
        // So many at once make one commit of their writes.
        let together = 32
        var counts = RetryCounts()
        var cursor: String?
        repeat {
            let page = try await jobs(
                of: tenant, where: RecordFilter(state: .failed, code: code), after: cursor, limit: together)
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
                    heed(job)
                case .forgotten: counts.forgotten += 1
                case .unneeded, nil: break
                }
            }
            cursor = page.next
        } while cursor != nil
        return counts
    }
}
