import SatchelCore
import HTTPTypes
import Hummingbird
import Stores

/// The API keys of a tenant, made and taken back by its own administrators.
struct KeyRoutes: Sendable {
    /// Seconds that a key may last, where it isn't to last until it is taken back: ten years.
    private static let lives = 1.0...315_360_000
    private static let nameBytes = 0...200

    let service: Service

    private var records: RecordStore { service.records }

    func add(to table: RouteTable) {
        table.on(.createKey) { request, context in try await create(request, context) }
        table.list(.listKeys, as: "keys") { _ in
        } page: { _, context, part in
            try await records.keys(of: context.tenant, after: part.cursor, limit: part.limit)
        } body: {
            $0.shown
        }
        // The same answer whether it was good, had ended, or never was.
        table.on(.revokeKey) { _, context in
            _ = try await records.revokeKey(context.parameter("id"), of: context.tenant)
            return Response(status: .noContent)
        }
        table.on(.rotateKey) { request, context in
            let rotated = try await records.rotateKey(
                context.parameter("id"), of: context.tenant, overlap: request.overlap())
            guard let (record, token) = rotated else { throw Problem.notFound }
            return try Self.answer(record, token)
        }
    }

    /// The only time that the key is shown.
    private static func answer(_ record: APIKeyRecord, _ token: AccessToken) throws -> Response {
        try .json(record.shown + ["key": token.secretText], .created)
    }

    private func create(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let tenant = try context.tenant
        let (name, roles, life) = try await request.fields(["name", "roles", "ttl"]) { reader in
            let roles = reader.choices("roles", AccessRole.self) ?? AccessRole.standard
            if roles.isEmpty {
                reader.addError("roles", "Must name at least one role. Omit the field for submit and read.")
            }
            return (
                reader.string("name", bytes: Self.nameBytes) ?? "", roles, reader.number("ttl", in: Self.lives)
            )
        }
        if case .key(let own) = context.identity { try Self.check(roles, against: own) }
        let (record, token) = try await records.createKey(
            named: name, for: tenant, roles: roles, lasting: life.map { .seconds(fraction: $0) })
        return try Self.answer(record, token)
    }

    /// - Throws: 403 where a key would have a role that whoever makes it hasn't.
    private static func check(_ roles: [AccessRole], against own: APIKeyRecord) throws(Problem) {
        if let other = roles.first(where: { !own.may($0) }) { throw .forbidden([other]) }
    }
}

extension APIKeyRecord {
    /// A key as its own tenant sees it.
    var shown: JSONFields {
        [
            "id": id, "name": name, "roles": roles, "createdAt": createdAt, "expiresAt": expiresAt,
            "revokedAt": revokedAt,
        ]
    }
}

extension Request {
    /// Seconds that what a rotation replaces stays good: 30 days at most.
    private static let overlaps = 0.0...2_592_000

    /// How long a rotated key or secret stays valid: the time in the body, or a day.
    func overlap() async throws -> Duration {
        try await fields(["overlap"], isOptional: true) {
            .seconds(fraction: $0.number("overlap", in: Self.overlaps) ?? 86_400)
        }
    }
}

/// The secrets by which receivers verify a tenant's callbacks, events and handler calls.
struct WebhookSecretRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.webhookSecrets) { _, context in
            try Self.answer(.ok, try await service.store.webhookSecrets(of: context.tenant))
        }
        table.on(.rotateWebhookSecret) { request, context in
            let secrets = try await service.store.rotateWebhookSecret(
                of: context.tenant, overlap: request.overlap())
            return try Self.answer(.created, secrets)
        }
    }

    /// The current one first.
    private static func answer(_ status: HTTPResponse.Status, _ secrets: [SigningSecret]) throws -> Response {
        let shown = secrets.map { secret -> JSONFields in
            [
                "id": secret.id, "secret": secret.secret.text, "createdAt": secret.createdAt,
                "endsAt": secret.endsAt,
            ]
        }
        return try .json(["secrets": shown], status)
    }
}
