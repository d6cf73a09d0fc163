import SatchelCore
import HTTPTypes
import Hummingbird
import Stores

/// Leases and grants.
struct AccessRoutes: Sendable {
    /// Live leases of a grant, where nothing else is asked.
    private static let leaseLimit = 16

    let service: Service

    private var records: RecordStore { service.records }

    func add(to table: RouteTable) {
        table.on(.startLease) { request, context in try await startLease(request, context) }
        table.on(.lease) { _, context in try await lease(context) }
        table.on(.renewLease) { request, context in try await renewLease(request, context) }
        table.on(.stopLease) { _, context in try await stopLease(context) }
        table.on(.grant) { request, context in try await grant(request, context) }
        table.on(.narrowGrant) { request, context in try await narrowGrant(request, context) }
        table.on(.revokeGrant) { _, context in try await revokeGrant(context) }
    }

    // MARK: Leases

    private func startLease(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let wanted = try await AccessRequest(request, fields: [.attachment, .ttl, .renditions])
        let duration = wanted.duration ?? AccessLimits.lease
        let attachment: AttachmentRecord
        switch context.identity {
        case .grant(_, let grant):
            guard wanted.attachment ?? grant.attachment == grant.attachment else { throw Problem.notFound }
            try Self.check(wanted.renditions, against: grant)
            attachment = try await self.attachment(
                grant.attachment, of: grant.tenant, with: wanted.renditions ?? grant.renditions)
        case .key, .nobody:
            guard let id = wanted.attachment else {
                throw Problem.invalid("/attachment_id", "Required with an API key.")
            }
            let tenant = try context.tenant
            attachment = try await self.attachment(id, of: tenant, with: wanted.renditions)
        }
        let started = try await records.startLease(
            on: attachment.id, in: context.scope, renditions: wanted.renditions, for: duration,
            within: service.settings.tenantQuotas[attachment.tenant])
        guard let (lease, token) = started else {
            if case .grant = context.identity { throw Problem.unauthorized }
            throw Problem.notFound
        }
        return try .json(
            service.body(of: lease, token, to: attachment), .created,
            headers: [.location: "/v1/leases/\(lease.id)"])
    }

    private func lease(_ context: ServiceContext) async throws -> Response {
        let id = try context.parameter("id")
        guard let lease = try await records.lease(id, in: context.scope) else { throw Problem.notFound }
        return try await answer(lease)
    }

    private func renewLease(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.parameter("id")
        let duration = try await AccessRequest(request, fields: [.ttl]).duration ?? AccessLimits.lease
        guard let renewed = try await records.renewLease(id, in: context.scope, for: duration) else {
            throw Problem.notFound
        }
        return try await answer(renewed)
    }

    /// The same answer whether it lived, had ended, or never was.
    private func stopLease(_ context: ServiceContext) async throws -> Response {
        let id = try context.parameter("id")
        let scope = try context.scope
        if try await records.lease(id, in: scope) != nil { _ = try await records.revoke(id, in: scope) }
        return Response(status: .noContent)
    }

    private func answer(_ lease: AccessEntry) async throws -> Response {
        guard let token = try await records.token(lease.id, of: lease.tenant),
            let attachment = try await records.attachment(lease.attachment, of: lease.tenant)
        else { throw Problem.notFound }
        return try .json(service.body(of: lease, token, to: attachment))
    }

    // MARK: Grants

    private func grant(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = AttachmentID(rawValue: try context.parameter("id"))
        let tenant = try context.tenant
        let wanted = try await AccessRequest(request, fields: [.ttl, .renditions, .leaseLimit])
        _ = try await attachment(id, of: tenant, with: wanted.renditions)
        let granted = try await records.grant(
            on: id, in: .owner(tenant), renditions: wanted.renditions, for: wanted.duration ?? AccessLimits.grant,
            leaseLimit: wanted.leaseLimit ?? Self.leaseLimit)
        guard let (grant, token) = granted else { throw Problem.notFound }
        return try .json(grant.shown(with: token), .created)
    }

    /// With the grant itself, or with a key of its tenant.
    private func narrowGrant(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.parameter("id")
        let wanted = try await AccessRequest(request, fields: [.ttl, .renditions, .leaseLimit])
        let parent: (AccessToken, AccessEntry)
        switch context.identity {
        case .grant(let token, let grant):
            guard grant.id == id else { throw Problem.notFound }
            parent = (token, grant)
        case .key, .nobody:
            let tenant = try context.tenant
            guard let grant = try await records.grant(id, in: .owner(tenant)),
                let token = try await records.token(id, of: tenant)
            else { throw Problem.notFound }
            parent = (token, grant)
        }
        try Self.check(wanted.renditions, against: parent.1)
        let narrowed = try await records.grant(
            on: nil, in: .bearer(parent.0), renditions: wanted.renditions, for: wanted.duration ?? AccessLimits.grant,
            leaseLimit: wanted.leaseLimit)
        guard let (grant, token) = narrowed else {
            throw Problem(
                .conflict, "grant_too_deep",
                "A grant can be derived at most \(AccessLimits.deepestGrant) times. Derive from an earlier grant.")
        }
        return try .json(grant.shown(with: token), .created)
    }

    private func revokeGrant(_ context: ServiceContext) async throws -> Response {
        let id = try context.parameter("id")
        let scope = try context.scope
        if try await records.grant(id, in: scope) != nil { _ = try await records.revoke(id, in: scope) }
        return Response(status: .noContent)
    }

    // MARK: Both

    /// An attachment of the tenant that has these renditions (nil: any).
    private func attachment(
        _ id: AttachmentID, of tenant: TenantID, with wanted: [RenditionRole]?
    ) async throws -> AttachmentRecord {
        guard let attachment = try await records.attachment(id, of: tenant) else { throw Problem.notFound }
        guard !attachment.renditions.isEmpty else {
            throw Problem(
                .conflict, "not_delivered",
                "This attachment is \(attachment.state.rawValue), so it has no files to read. Wait until it is delivered."
            )
        }
        let missing = (wanted ?? []).filter { attachment.renditions[$0] == nil }
        guard missing.isEmpty else {
            let there = attachment.renditions.keys.map(\.rawValue).sorted().joined(separator: ", ")
            throw Problem.invalid("/renditions", "Must be renditions of this attachment: \(there).")
        }
        return attachment
    }

    private static func check(_ wanted: [RenditionRole]?, against grant: AccessEntry) throws(Problem) {
        guard let covered = grant.renditions, let wanted, !wanted.allSatisfy(covered.contains) else { return }
        let all = covered.map(\.rawValue).joined(separator: ", ")
        throw Problem(.forbidden, "forbidden", "This grant covers only \(all).")
    }
}

extension Service {
    /// A lease as the API shows it.
    func body(of lease: AccessEntry, _ token: AccessToken, to attachment: AttachmentRecord) -> JSONFields {
        let opened = attachment.renditions.filter { lease.renditions?.contains($0.key) ?? true }
        // The rendition to show, of those that the lease opens.
        let best = ([attachment.best].compactMap(\.self) + [.main, .poster, .thumbnail, .waveform, .original])
            .first { opened[$0] != nil }
        var renditions: [RenditionRole: JSONFields] = [:]
        for (role, rendition) in opened {
            renditions[role] = [
                "uti": rendition.uti, "mediaType": rendition.mediaType, "bytes": rendition.bytes,
                "width": rendition.width, "height": rendition.height,
                "url": contentURL(token, role, rendition.mediaType),
                "encryption": encryption(of: rendition, attachment.tenant),
            ]
        }
        return [
            "id": lease.id, "attachmentId": lease.attachment, "grantId": lease.parent, "startedAt": lease.createdAt,
            "expiresAt": lease.expiresAt, "best": best, "renditions": renditions,
        ]
    }
}

extension AccessEntry {
    /// A grant as the API shows it to its recipient.
    func shown(with token: AccessToken) -> JSONFields {
        [
            "id": id, "token": token.secretText, "attachmentId": attachment, "parentId": parent,
            "renditions": renditions, "leaseLimit": leaseLimit, "createdAt": createdAt, "expiresAt": expiresAt,
        ]
    }
}
