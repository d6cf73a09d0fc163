import Attachments
import HTTPTypes
import Hummingbird

/// Tells who asks, from the bearer token of a request.
struct Authentication: Sendable {
    let records: any ServiceRecords
    /// On loopback a service may do without keys: then everybody is an administrator of this tenant.
    let keysRequired: Bool

    /// - Throws: 401 for whoever has no good credentials, the same for malformed, unknown, expired and revoked ones; 403
    ///   for a key that lacks the role.
    func identity(for endpoint: Endpoint, _ request: Request) async throws -> Identity {
        switch endpoint.access {
        case .anyone: return .nobody
        case .key(let role): return try await key(with: role, request)
        case .keyOrGrant(let role):
            let token = bearer(of: request)
            if let token, token.secretText.hasPrefix(TokenKind.grant.rawValue) { return try await grant(token) }
            return try await key(with: role, request)
        case .grant:
            guard let token = bearer(of: request) else { throw Problem.unauthorized }
            return try await grant(token)
        }
    }

    private func key(with role: AccessRole, _ request: Request) async throws -> Identity {
        guard let token = bearer(of: request) else {
            guard keysRequired else { return .key(.everybody) }
            throw Problem.unauthorized
        }
        guard let key = try await records.authenticate(token) else { throw Problem.unauthorized }
        guard key.may(role) else { throw Problem.forbidden(role) }
        return .key(key)
    }

    private func grant(_ token: AccessToken) async throws -> Identity {
        guard let grant = try await records.grant(token) else { throw Problem.unauthorized }
        return .grant(token, grant)
    }

    private func bearer(of request: Request) -> AccessToken? {
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
