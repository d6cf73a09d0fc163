import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Payloads

/// Previews of notifications that whoever has a ticket may see: made as they are at that moment, with links and a ticket for
/// responses of their own.
struct PreviewRoutes: Sendable {
    /// Seconds that a preview may be seen.
    private static let lives = 60.0...604_800.0
    private static let defaultLife = 3600.0

    let service: Service

    func add(to table: RouteTable) {
        table.on(.createPreview) { request, context in try await create(request, context) }
        table.on(.deletePreview) { _, context in
            _ = try await service.records.endPreview(context.parameter("id"), of: context.tenant)
            return Response(status: .noContent)
        }
        table.on(.preview) { request, context in try await page(request, context) }
    }

    // MARK: Making

    private func create(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = NotificationID(rawValue: try context.parameter("id"))
        let (number, life) = try await wishes(request)
        guard let record = try await service.records.notification(id, of: context.tenant) else {
            throw Problem.notFound
        }
        let now = try await service.records.now()
        let draft =
            if let number {
                try await draft(ofFiring: number, record, life: life, at: now)
            } else {
                try await draft(of: record, life: life, at: now)
            }
        guard let token = try service.records.newTokens(.preview, 1).first else { throw Problem.notFound }
        let ticket = Ticket(
            token, tenant: record.tenant, notification: record.id, firing: number, content: .preview(draft.preview),
            createdAt: now, expiresAt: now + .seconds(fraction: life))
        guard try await service.records.open([ticket] + [draft.ticket].compactMap(\.self), draft.links) else {
            throw Problem.notFound
        }
        let body: JSONFields = [
            "id": ticket.id, "url": "\(service.settings.publicURL)/p/\(token.token.secretText)",
            "expiresAt": ticket.expiresAt,
        ]
        return try .json(body, .created, headers: [.location: "/v1/previews/\(ticket.id)"])
    }

    private func wishes(_ request: Request) async throws -> (firing: Int?, life: Double) {
        let body = try await IncomingBody(request, limit: Int64(service.settings.intake.jsonBytes)).collect()
        return try FieldReader.read(body, ["firing", "ttl"], isOptional: true) { reader in
            (
                reader.integer("firing", in: 1...Int(Int32.max)),
                reader.number("ttl", in: Self.lives) ?? Self.defaultLife
            )
        }
    }

    /// A preview that isn't open yet.
    private struct Draft {
        var preview: SavedPreview
        var links: [AccessEntry]
        var ticket: Ticket?
    }

    /// What would be handed over now.
    private func draft(of record: NotificationRecord, life: Double, at now: Instant) async throws -> Draft {
        let materials = try await service.records.materials([record.tenant: .init(record)])[record.tenant]
        let payload = try NotificationPayload(record.submission, of: record.tenant, service)
        let made = try payload.made(
            from: .init(job: record.job, ready: record.media.ready, materials: materials ?? FiringMaterials()), at: now,
            for: .init(record, preview: life))
        let preview = SavedPreview(
            payload: TokenTemplate(Data(made.payload), hiding: made.tokens, keys: made.keys),
            format: record.submission.format,
            pushType: record.submission.pushType,
            category: made.category, media: made.media.map(\.record), dropped: made.dropped, linksEnd: made.linksEnd,
            respond: made.ticket?.id)
        return Draft(preview: preview, links: made.links, ticket: made.ticket)
    }

    /// What was handed over, byte for byte but for its tokens.
    private func draft(
        ofFiring number: Int, _ record: NotificationRecord, life: Double, at now: Instant
    ) async throws -> Draft {
        let firing = try await service.records.firing(number, of: record.id, tenant: record.tenant)
        guard let firing, let payload = firing.payload else {
            throw Problem.invalid("/firing", "Must be the number of a firing that has a payload.")
        }
        let end = now + .seconds(fraction: life)
        var tokens: [String: AccessToken] = [:]
        // As they stand in the firing's payload, and in the preview's.
        var (keys, ownKeys) = ([RenditionKeyPlace: String](), [RenditionKeyPlace: String]())
        var links: [AccessEntry] = []
        var media = firing.media
        for index in media.indices {
            guard let old = media[index].link, let id = media[index].attachment,
                let link = try service.records.newTokens(.link, 1).first
            else { continue }
            media[index].link = nil
            guard let attachment = try await service.records.attachment(id, of: record.tenant) else { continue }
            media[index].link = link.id
            tokens[old] = link.token
            keys.merge(service.keys(of: attachment, by: old)) { $1 }
            ownKeys.merge(service.keys(of: attachment, by: link.id)) { $1 }
            links.append(
                AccessEntry(
                    id: link.id, kind: .link, tenant: record.tenant, attachment: id,
                    renditions: Array(attachment.renditions.keys), kid: link.kid, createdAt: now, expiresAt: end))
        }
        let category = try await service.category(named: record.submission.category, of: record.tenant)
        var ticket: Ticket?
        if let old = firing.ticket, let category, let token = try service.records.newTokens(.respond, 1).first {
            let context = ResponseContext(
                category: category, generation: firing.generation, metadata: record.submission.metadata,
                isPreview: true)
            ticket = Ticket(
                token, tenant: record.tenant, notification: record.id, firing: number, content: .responses(context),
                createdAt: now, expiresAt: end)
            tokens[old] = token.token
        }
        let preview = SavedPreview(
            payload: TokenTemplate(
                payload.text(with: tokens, keys: keys), hiding: Array(tokens.values), keys: ownKeys),
            format: record.submission.format, pushType: record.submission.pushType, category: category, media: media,
            dropped: firing.dropped,
            linksEnd: firing.firedAt.map { $0 + .seconds(fraction: record.submission.expiresIn) }, respond: ticket?.id)
        return Draft(preview: preview, links: links, ticket: ticket)
    }

    // MARK: Showing

    private func page(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let token = AccessToken(secretText: try context.parameter("ticket"))
        guard let ticket = try await service.records.ticket(of: token, .preview),
            case .preview(let saved) = ticket.content
        else { throw Problem.notFound }
        let page = PreviewPage(
            preview: try await preview(saved, of: ticket.tenant), appearance: PreviewAppearance(request))
        let policy = PagePolicy()
        return policy.sandboxed(page.html(policy))
    }

    private func preview(_ saved: SavedPreview, of tenant: TenantID) async throws -> NotificationPreview {
        let ids = saved.payload.tokens.union(saved.links).union([saved.respond].compactMap(\.self))
        let tokens = try await service.records.tokens(ids, of: tenant)
        let keys = try await service.records.keys(at: saved.payload.keys, tokens)
        var media: [EnrichedMedium] = []
        for medium in saved.media { media.append(try await self.medium(medium, tokens, saved.format, of: tenant)) }
        return NotificationPreview(
            payload: Array(saved.payload.text(with: tokens, keys: keys)), format: saved.format, type: saved.pushType,
            category: saved.category,
            media: media, dropped: saved.dropped, linksEnd: saved.linksEnd,
            respond: saved.respond.flatMap { tokens[$0] }.map { "/r/\($0.secretText)" })
    }

    private func medium(
        _ medium: FiringMedium, _ tokens: [String: AccessToken], _ format: PayloadFormat, of tenant: TenantID
    ) async throws -> EnrichedMedium {
        var record: AttachmentRecord?
        if let id = medium.attachment { record = try await service.records.attachment(id, of: tenant) }
        let failure = medium.failure.map { MediumFailure(code: $0.code, message: $0.message) }
        var shown = EnrichedMedium(
            identifier: medium.identifier, record: record,
            outcome: .failure(failure ?? MediumFailure(.notInStore(what: "'\(medium.identifier)'"))))
        guard let record, let ready = PreparedMedium(record, for: format),
            let token = medium.link.flatMap({ tokens[$0] })
        else {
            return shown
        }
        shown.outcome = .success(ready.delivered(by: token, service))
        shown.unfit = failure
        for (role, rendition) in record.renditions {
            shown.urls[role] = service.contentURL(token, role, rendition.mediaType)
        }
        return shown
    }
}
