import SatchelCore
import HTTPTypes
import Hummingbird
import Stores

/// What receivers verify a tenant's messages with: callbacks, events, and calls of handlers.
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
