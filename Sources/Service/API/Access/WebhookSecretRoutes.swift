import SatchelCore
import Hummingbird
import Stores

/// What receivers verify a tenant's messages with: callbacks, events, and calls of handlers.
struct WebhookSecretRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.webhookSecrets) { _, context in
            try .secret(.ok, Listing(try await service.store.webhookSecrets(of: context.tenant)))
        }
        table.on(.rotateWebhookSecret) { request, context in
            let overlap = try await Overlap(request).duration
            let secrets = try await service.store.rotateWebhookSecret(of: context.tenant, overlap: overlap)
            return try .secret(.created, Listing(secrets))
        }
    }

    /// The current one first.
    private struct Listing: Encodable {
        private struct Secret: Encodable {
            var id: String
            var secret: String
            var createdAt: Instant
            @Nullable var endsAt: Instant?
        }

        private var secrets: [Secret]

        init(_ secrets: [SigningSecret]) {
            self.secrets = secrets.map {
                Secret(id: $0.id, secret: $0.secret.text, createdAt: $0.createdAt, endsAt: $0.endsAt)
            }
        }
    }
}
