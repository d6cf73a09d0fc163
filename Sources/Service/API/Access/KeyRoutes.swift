import SatchelCore
import HTTPTypes
import Hummingbird

/// The API keys of a tenant, made and taken back by its own administrators.
struct KeyRoutes: Sendable {
    /// Bytes of a body: it has three small fields.
    private static let bodyLimit: Int64 = 16 << 10
    /// Seconds that a key may last, where it isn't to last until it is taken back: ten years.
    private static let lives = 1.0...315_360_000
    private static let nameBytes = 0...200

    let service: Service

    private var records: any APIKeyRecords { service.records }

    func add(to table: RouteTable) {
        table.on(.createKey) { request, context in try await create(request, context) }
        table.on(.listKeys) { request, context in
            let query = try ListParameters(request)
            let page = try await records.keys(of: context.tenant, after: query.cursor, limit: query.limit)
            return try .json(
                Listing(keys: page.elements.map { KeyBody($0) }, next: page.next.map(ListParameters.cursor)))
        }
        // The same answer whether it was good, had ended, or never was.
        table.on(.revokeKey) { _, context in
            _ = try await records.revokeKey(context.parameter("id"), of: context.tenant)
            return Response(status: .noContent)
        }
        table.on(.rotateKey) { request, context in
            let overlap = try await Overlap(request).duration
            let rotated = try await records.rotateKey(
                context.parameter("id"), of: context.tenant, overlap: overlap)
            guard let (record, token) = rotated else { throw Problem.notFound }
            return try .secret(.created, NewKeyBody(record, token))
        }
    }

    private func create(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let tenant = try context.tenant
        let body = try await IncomingBody.json(of: request, limit: Self.bodyLimit)
        let errors = ValidationErrors()
        let reader = try FieldReader(body: body.readableBytesView, known: ["name", "roles", "ttl"], errors)
        let name = reader.string("name", bytes: Self.nameBytes) ?? ""
        let roles = reader.choices("roles", AccessRole.self) ?? AccessRole.standard
        if roles.isEmpty {
            reader.addError("roles", "Must name at least one role. Omit the field for submit and read.")
        }
        let life = reader.number("ttl", in: Self.lives)
        try errors.check()
        if case .key(let own) = context.identity { try Self.check(roles, against: own) }
        let (record, token) = try await records.createKey(
            named: name, for: tenant, roles: roles, lasting: life.map { .seconds(fraction: $0) })
        return try .secret(.created, NewKeyBody(record, token))
    }

    /// - Throws: 403 where a key would have a role that whoever makes it hasn't.
    private static func check(_ roles: [AccessRole], against own: APIKeyRecord) throws(Problem) {
        if let other = roles.first(where: { !own.may($0) }) { throw .forbidden([other]) }
    }

    private struct Listing: Encodable {
        var keys: [KeyBody]
        @Nullable var next: String?
    }

    /// A key as its tenant sees it, which is whose it is.
    struct KeyBody: Encodable {
        var id: String
        var name: String
        var roles: [AccessRole]
        var createdAt: Instant
        @Nullable var expiresAt: Instant?
        @Nullable var revokedAt: Instant?

        init(_ record: APIKeyRecord) {
            id = record.id
            name = record.name
            roles = record.roles
            createdAt = record.createdAt
            expiresAt = record.expiresAt
            revokedAt = record.revokedAt
        }
    }

    /// The only time that it is shown.
    private struct NewKeyBody: Encodable {
        private enum Keys: CodingKey {
            case key
        }

        let record: KeyBody
        let token: AccessToken

        init(_ record: APIKeyRecord, _ token: AccessToken) {
            self.record = KeyBody(record)
            self.token = token
        }

        func encode(to encoder: any Encoder) throws {
            try record.encode(to: encoder)
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(token.secretText, forKey: .key)
        }
    }
}
