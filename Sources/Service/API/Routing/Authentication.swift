import SatchelCore
internal import Stores
import HTTPTypes
import Hummingbird

/// Tells who asks, from the bearer token of a request.
struct Authentication: Sendable {
    let records: RecordStore
    /// Who is let in without a key; nil where everybody needs one. On loopback a service may do without keys: then
    /// everybody but a web page is an administrator.
    let keyless: KeylessAccess?
    let metricsArePublic: Bool
    private let watch = CredentialWatch()

    init(_ service: Service) {
        records = service.records
        keyless = service.settings.keysRequired ? nil : KeylessAccess(publicURL: service.settings.publicURL)
        metricsArePublic = service.settings.metricsArePublic
    }

    /// - Throws: 401 for whoever has no good credentials, the same for malformed, unknown, expired and revoked ones; 403
    ///   for a key that lacks the role, and for web pages where no key is needed.
    func identity(for endpoint: Endpoint, _ request: Request) async throws -> Identity {
        switch endpoint.access {
        case .anyone: return .nobody
        case .key where endpoint == .metrics && metricsArePublic && (keyless == nil || Self.bearer(of: request) != nil):
            return .nobody
        case .key(let roles): return try await key(with: roles, request)
        case .keyOrGrant(let roles):
            let token = Self.bearer(of: request)
            if let token, token.secretText.hasPrefix(TokenKind.grant.rawValue) { return try await grant(token) }
            return try await key(with: roles, request)
        case .grant:
            guard let token = Self.bearer(of: request) else { throw Problem.unauthorized }
            return try await grant(token)
        }
    }

    private func key(with roles: [AccessRole], _ request: Request) async throws -> Identity {
        guard let token = Self.bearer(of: request) else {
            guard let keyless else { throw Problem.unauthorized }
            guard keyless.admits(request) else { throw Problem.noWebPage }
            return .key(.everybody)
        }
        guard let key = try await records.authenticate(token) else { throw Problem.unauthorized }
        guard roles.contains(where: key.may) else { throw Problem.forbidden(roles) }
        return .key(key)
    }

    private func grant(_ token: AccessToken) async throws -> Identity {
        guard let grant = try await records.grant(of: token) else { throw Problem.unauthorized }
        return .grant(token, grant)
    }

    /// The key that has to stay good while a request is answered; `nil` for calls that never wait. A call that revokes its own
    /// key is one of these.
    func credentials(for endpoint: Endpoint, of identity: Identity, _ request: Request) -> Credentials? {
        guard case .key = identity, endpoint.access != .key([.admin]), let token = Self.bearer(of: request) else {
            return nil
        }
        return Credentials(token: token, watch: watch) { try await records.authenticate(token) != nil }
    }

    static func bearer(of request: Request) -> AccessToken? {
        guard let header = request.headers[.authorization] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return AccessToken(secretText: "") }
        return AccessToken(secretText: String(parts[1]))
    }
}

extension APIKeyRecord {
    /// Stands in where no key is required.
    fileprivate static let everybody = APIKeyRecord(
        id: "", tenant: TenantID(rawValue: "default"), name: "no key", roles: [.admin],
        createdAt: Instant(milliseconds: 0), expiresAt: nil, revokedAt: nil)
}
