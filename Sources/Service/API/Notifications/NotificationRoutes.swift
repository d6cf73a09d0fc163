import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Jobs
import Payloads

/// Notifications, and what became of them.
struct NotificationRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.submitNotification) { request, context in try await submit(request, id: nil, context) }
        table.on(.putNotification) { request, context in
            try await submit(request, id: wellFormedID(context), context)
        }
        table.list(.listNotifications, as: "notifications", by: ["list", "category"]) { query in
            (
                list: query.choice("list", NotificationList.self) ?? .pending,
                category: query.string("category", bytes: 0...256)
            )
        } page: { filter, context, part in
            try await service.records.notifications(
                of: context.tenant, in: filter.list, category: filter.category, after: part.cursor,
                limit: part.limit)
        } body: {
            try await service.body(of: $0)
        }
        table.on(.notification) { _, context in try await .json(service.body(of: record(context))) }
        table.on(.deleteNotification) { request, context in
            let list = try request.parameters(["from"]) { $0.choice("from", NotificationRemoval.self) ?? .all }
            _ = try await service.records.remove(wellFormedID(context), of: context.tenant, from: list)
            return Response(status: .noContent)
        }
        table.on(.fireNotification) { request, context in try await fire(request, context) }
        table.on(.notificationFirings) { request, context in
            let record = try await record(context)
            let part = try ListParameters.read(request).part
            let page = try await service.records.firings(
                of: record.id, tenant: record.tenant, after: part.cursor, limit: part.limit)
            return try await listing(page.elements, next: page.next)
        }
        table.on(.notificationFiring) { _, context in
            guard let number = Int(try context.parameter("number")),
                let firing = try await service.records.firing(number, of: id(context), tenant: context.tenant)
            else { throw Problem.notFound }
            return .json(try await service.document(firing))
        }
        table.on(.listFirings) { request, context in try await listFirings(request, of: context.tenant) }
    }

    private func id(_ context: ServiceContext) throws -> NotificationID {
        NotificationID(rawValue: try context.parameter("id"))
    }

    /// An id that somebody may choose.
    private func wellFormedID(_ context: ServiceContext) throws -> NotificationID {
        let id = try id(context)
        guard id.rawValue.isClientID else {
            throw Problem.invalid("id", "Must be \(String.clientIDs).")
        }
        return id
    }

    private func record(_ context: ServiceContext) async throws -> NotificationRecord {
        guard let record = try await service.records.notification(id(context), of: context.tenant) else {
            throw Problem.notFound
        }
        return record
    }

    // MARK: Submitting

    private func submit(_ request: Request, id: NotificationID?, _ context: ServiceContext) async throws -> Response {
        let preferences = Preferences(request)
        let tenant = try context.tenant
        let submitting = NotificationSubmitting(service: service, tenant: tenant, traceparent: context.trace.header)
        let answer = try await submitting.submit(request, id: id)
        if let wait = preferences.wait { try await self.wait(for: answer, within: .seconds(wait)) }
        guard let record = try await service.records.notification(answer.record.id, of: tenant) else {
            throw Problem.notFound
        }
        var headers: HTTPFields = [.location: "/v1/notifications/\(record.id.rawValue)"]
        preferences.add(to: &headers)
        let isNew = if case .created = answer { true } else { false }
        if case .unchanged = answer { headers["Idempotent-Replayed"] = "true" }
        return try .json(try await service.body(of: record), isNew ? .created : .ok, headers: headers)
    }

    /// Waits for the media; without a trigger for the firing.
    private func wait(for answer: NotificationAnswer, within limit: Duration) async throws {
        let record = answer.record
        let isUnchanged = if case .unchanged = answer { true } else { false }
        // Of the same body the one that there was.
        let number = isUnchanged ? max(record.fired, 1) : record.fired + 1
        let end = ContinuousClock.now + limit
        if let id = record.job, let job = try await service.records.job(id, of: record.tenant) {
            _ = try await service.waitForEnd(of: job, within: limit)
        }
        guard record.submission.trigger == nil else { return }
        while .now < end {
            let firing = try await service.records.firing(number, of: record.id, tenant: record.tenant)
            if let firing, !firing.isWaiting { return }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Between two looks for what somebody waits for.
    private static let interval: Duration = .milliseconds(50)

    // MARK: Looking

    private func listing(_ firings: [FiringRecord], next: String?) async throws -> Response {
        var documents: [JSONValue] = []
        for firing in firings { documents.append(try await service.document(firing)) }
        return .page("firings", documents, next: next)
    }

    /// The tenant's list. Its `next` is never null: whoever comes back with it gets what came since.
    private func listFirings(_ request: Request, of tenant: TenantID) async throws -> Response {
        let part = try ListParameters.read(request).part
        guard let place = part.cursor.map({ Int64($0) }) ?? 0 else {
            throw Problem.invalid("cursor", "Must be the 'next' of a previous page.")
        }
        let end = ContinuousClock.now + .seconds(Preferences(request).wait ?? 0)
        var firings: [FiringRecord]
        while true {
            firings = try await service.records.firings(of: tenant, after: place, limit: part.limit)
            guard firings.isEmpty, .now < end, !service.health.isDraining else { break }
            try await Task.sleep(for: Self.pollInterval)
        }
        return try await listing(firings, next: "\(firings.last?.place ?? place)")
    }

    /// Of a reader who waits.
    private static let pollInterval: Duration = .milliseconds(250)

    // MARK: Firing

    private func fire(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let record = try await record(context)
        let body = try await IncomingBody(request, limit: Int64(service.settings.intake.jsonBytes)).collect()
        let hasHandover = try FieldReader.read(body, ["handover"], isOptional: true) {
            $0.bool("handover") ?? true
        }
        let key = try Submitting(service: service).idempotencyKey(of: request)
        let firing = try await service.notifications.fire(
            record.id, of: record.tenant, idempotencyKey: key, hasHandover: hasHandover, by: service)
        guard let firing else {
            throw Problem(
                .conflict, "notification_cancelled", "The notification was cancelled. Create it again, then fire it.")
        }
        var response = Response.json(try await service.document(firing))
        if firing.number <= record.fired { response.headers["Idempotent-Replayed"] = "true" }
        return response
    }
}
