import SatchelCore
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
        table.on(.listNotifications) { request, context in try await list(request, of: context.tenant) }
        table.on(.notification) { _, context in .json(try JSON.encode(try await service.body(of: record(context)))) }
        table.on(.deleteNotification) { request, context in
            let errors = ValidationErrors()
            let query = try Query(request).reader(known: ["from"], errors)
            let list = query.choice("from", NotificationRemoval.self) ?? .all
            try errors.check()
            _ = try await service.records.remove(wellFormedID(context), of: context.tenant, from: list)
            return Response(status: .noContent)
        }
        table.on(.fireNotification) { request, context in try await fire(request, context) }
        table.on(.notificationFirings) { request, context in
            let record = try await record(context)
            let query = try ListParameters(request)
            let page = try await service.records.firings(
                of: record.id, tenant: record.tenant, after: query.cursor, limit: query.limit)
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
        return .json(
            try JSON.encode(try await service.body(of: record)), isNew ? .created : .ok, headers: headers)
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

    private struct Listing: Encodable {
        var notifications: [NotificationBody]
        @Nullable var next: String?
    }

    private func list(_ request: Request, of tenant: TenantID) async throws -> Response {
        var list = NotificationList.pending
        var category: String?
        let parameters = try ListParameters(request, filters: ["list", "category"]) { query in
            list = query.choice("list", NotificationList.self) ?? list
            category = query.string("category", bytes: 0...256)
        }
        let page = try await service.records.notifications(
            of: tenant, in: list, category: category, after: parameters.cursor, limit: parameters.limit)
        var bodies: [NotificationBody] = []
        for record in page.elements { bodies.append(try await service.body(of: record)) }
        return try .json(Listing(notifications: bodies, next: page.next.map(ListParameters.cursor)))
    }

    private func listing(_ firings: [FiringRecord], next: String?) async throws -> Response {
        var documents: [JSONValue] = []
        for firing in firings { documents.append(try await service.document(firing)) }
        return .json(
            JSONValue(members: [
                ("firings", JSONValue(elements: documents)),
                ("next", next.map { JSONValue(ListParameters.cursor($0)) } ?? .null),
            ]))
    }

    /// The tenant's list. Its `next` is never null: whoever comes back with it gets what came since.
    private func listFirings(_ request: Request, of tenant: TenantID) async throws -> Response {
        let query = try ListParameters(request)
        guard let place = query.cursor.map({ Int64($0) }) ?? 0 else {
            throw Problem.invalid("cursor", "Must be the 'next' of a previous page.")
        }
        let end = ContinuousClock.now + .seconds(Preferences(request).wait ?? 0)
        var firings: [FiringRecord]
        while true {
            firings = try await service.records.firings(of: tenant, after: place, limit: query.limit)
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
        var hasHandover = true
        if body.readableBytes > 0 {
            let errors = ValidationErrors()
            let reader = try FieldReader(body: body.readableBytesView, known: ["handover"], errors)
            hasHandover = reader.bool("handover") ?? true
            try errors.check()
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
