import SatchelCore
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Jobs
import Stores

/// Submitting jobs, and looking after them.
struct JobRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.submitJob) { request, context in
            try await submit(request, id: nil, context)
        }
        table.on(.putJob) { request, context in
            let id = try context.parameter("id")
            guard id.isClientID else { throw Problem.invalid("id", "Must be \(String.clientIDs).") }
            return try await submit(request, id: JobID(rawValue: id), context)
        }
        table.list(.listJobs, as: "jobs", by: RecordFilter.parameters) {
            RecordFilter($0)
        } page: { filter, context, part in
            try await service.records.jobs(
                of: context.tenant, where: filter, after: part.cursor, limit: part.limit)
        } body: {
            try await service.body(of: $0)
        }
        table.on(.job) { request, context in
            var record = try await record(context)
            let preferences = Preferences(request)
            if let wait = preferences.wait {
                record = try await service.waitForEnd(of: record, within: .seconds(wait))
            }
            var headers: HTTPFields = [:]
            preferences.add(to: &headers)
            return .json(try await service.document(record), headers: headers)
        }
        table.on(.deleteJob) { _, context in try await delete(record(context)) }
        table.on(.retryJob) { _, context in try await retry(jobID(context), of: context.tenant) }
        table.on(.replayWebhook) { _, context in
            let record = try await record(context)
            guard record.state.isFinished else {
                throw Problem(.conflict, "not_finished", "The job is not finished. Its callback is called when it is.")
            }
            guard try await service.records.replayWebhook(of: record.id, tenant: record.tenant) else {
                throw Problem(.conflict, "no_callback", "The job was submitted without a callback.")
            }
            return .json(try await service.document(self.record(context)), .accepted)
        }
    }

    private func jobID(_ context: ServiceContext) throws -> JobID {
        JobID(rawValue: try context.parameter("id"))
    }

    private func record(_ context: ServiceContext) async throws -> JobRecord {
        guard let record = try await service.records.job(jobID(context), of: context.tenant) else {
            throw Problem.notFound
        }
        return record
    }

    // MARK: Submitting

    private func submit(_ request: Request, id: JobID?, _ context: ServiceContext) async throws -> Response {
        let preferences = Preferences(request)
        var (record, isReplay) = try await Submitting(service: service).submit(request, id: id, context)
        if let wait = preferences.wait {
            record = try await service.waitForEnd(of: record, within: .seconds(wait))
        }
        var headers: HTTPFields = [.location: Self.path(of: record.id)]
        preferences.add(to: &headers)
        if isReplay { headers["Idempotent-Replayed"] = "true" }
        return .json(try await service.document(record), record.state.isFinished ? .ok : .accepted, headers: headers)
    }

    private static func path(of id: JobID) -> String { "/v1/jobs/\(id.rawValue)" }

    // MARK: Ending

    /// A job that is not finished is cancelled; a finished one goes, with all that it holds.
    private func delete(_ record: JobRecord) async throws -> Response {
        if !record.state.isFinished,
            let cancelled = try await service.records.cancel(record.id, of: record.tenant)
        {
            if cancelled.state == .cancelled {
                service.jobs.cancelled(cancelled)
                return .json(try await service.document(cancelled))
            }
        }
        guard try await service.records.deleteJob(record.id, of: record.tenant) else { throw Problem.notFound }
        service.jobs.deleted(record.id, of: record.tenant)
        return Response(status: .noContent)
    }

    private func retry(_ id: JobID, of tenant: TenantID) async throws -> Response {
        switch try await service.records.retry(id, of: tenant) {
        case nil: throw Problem.notFound
        case .accepted(let record)?:
            service.jobs.retried(record)
            return .json(
                try await service.document(record), .accepted, headers: [.location: Self.path(of: record.id)])
        case .unneeded?:
            throw Problem(
                .conflict, "retry_unneeded", "Only a failed or cancelled job can be retried.")
        case .forgotten?:
            throw Problem(
                .conflict, "sources_gone", "The job's sources are no longer kept. Submit the job again.")
        }
    }
}
