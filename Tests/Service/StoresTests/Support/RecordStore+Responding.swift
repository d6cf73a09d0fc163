import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

extension RecordStore {
    /// Adds a notification that is fired by hand, or puts another body in its place.
    func putNotification(
        _ id: String = "a", of tenant: TenantID = .local, body: String = "1", handover: String? = nil,
        category: String? = nil
    ) async throws {
        let now = try await now()
        _ = try await put(
            .sample(id, tenant: tenant, body: body, handover: handover, category: category, acceptedAt: now), limit: nil
        )
    }

    /// Fires a notification, with a payload that opens these.
    func fireNotification(
        _ id: String = "a", of tenant: TenantID = .local, opening ticket: Ticket?, _ links: [AccessEntry] = []
    ) async throws {
        let read = try #require(try await notification(NotificationID(rawValue: id), of: tenant))
        let request = FiringRequest(cause: .manual(idempotencyKey: nil, hasHandover: true))
        let decided = try #require(NotificationDecision.fire(request, read, at: try await now()))
        #expect(try await carryOut([decided]) == [true])
        let firing = decided.firing
        let body = TokenTemplate(Data("{}".utf8), hiding: [])
        let call = firing.handover.map { url in
            OutgoingCall(
                id: firing.id.rawValue, tenant: tenant, type: .notificationFired, subject: firing.id.rawValue, url: url,
                body: body)
        }
        try await complete(
            FiringCompletion(
                firing, at: try await now(),
                .finished(
                    FiringCompletion.Finished(
                        payload: body, links: links, ticket: ticket,
                        media: links.map {
                            FiringMedium(identifier: "photo", attachment: $0.attachment, link: $0.id, failure: nil)
                        },
                        dropped: [], call: call))))
    }

    /// A ticket for responses that is about to begin.
    func newTicket(
        to notification: String = "a", of tenant: TenantID = .local, firing: Int? = 1,
        category: Category = .answerable(),
        isPreview: Bool = false, lasting duration: Duration = .seconds(3600)
    ) async throws -> (Ticket, AccessToken) {
        let context = ResponseContext(category: category, generation: 1, metadata: ["k": "v"], isPreview: isPreview)
        return try await newTicket(
            .respond, to: notification, of: tenant, firing: firing, .responses(context), lasting: duration)
    }

    /// A preview that is about to begin.
    func newPreview(
        of notification: String = "a", tenant: TenantID = .local, link: String? = nil, respond: String? = nil,
        lasting duration: Duration = .seconds(3600)
    ) async throws -> (Ticket, AccessToken) {
        let preview = SavedPreview(
            payload: TokenTemplate(Data("{}".utf8), hiding: []), pushType: .alert, category: .sample(),
            media: [FiringMedium(identifier: "photo", attachment: nil, link: link, failure: nil)], dropped: [],
            linksEnd: nil, respond: respond)
        return try await newTicket(
            .preview, to: notification, of: tenant, firing: nil, .preview(preview), lasting: duration)
    }

    private func newTicket(
        _ kind: TokenKind, to notification: String, of tenant: TenantID, firing: Int?, _ content: Ticket.Content,
        lasting duration: Duration
    ) async throws -> (Ticket, AccessToken) {
        let token = try newTokens(kind, 1)[0]
        let now = try await now()
        let ticket = Ticket(
            token, tenant: tenant, notification: NotificationID(rawValue: notification), firing: firing,
            content: content, createdAt: now, expiresAt: now + duration)
        return (ticket, token.token)
    }

    /// A link that is about to begin.
    func newLink(
        to attachment: AttachmentID, of tenant: TenantID = .local
    ) async throws -> (AccessEntry, AccessToken) {
        let token = try newTokens(.link, 1)[0]
        let now = try await now()
        let link = AccessEntry(
            id: token.id, kind: .link, tenant: tenant, attachment: attachment, renditions: [.main], kid: token.kid,
            createdAt: now, expiresAt: now + .seconds(3600))
        return (link, token.token)
    }
}

extension Category {
    /// One whose responses are kept as they come.
    static func answerable(recordText: Bool = true) -> Category {
        Category(
            id: "message", options: [.customDismissAction],
            actions: [
                CategoryAction(id: "reply", title: "Reply", textInput: TextInput(buttonTitle: "Send")),
                CategoryAction(id: "mute", title: "Mute"),
            ], responses: ResponseSettings(recordText: recordText))
    }
}

extension NotificationResponse {
    /// - Parameters:
    ///   - number: Names it.
    ///   - session: Names its session.
    static func sample(
        _ number: Int, in session: Int = 1, _ action: String = "mute", text: String? = nil, data: String? = nil
    ) -> NotificationResponse {
        func uuid(_ kind: Int, _ number: Int) -> String {
            let digits = String(number, radix: 16)
            return "00000000-0000-000\(kind)-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
        }
        return NotificationResponse(
            id: uuid(1, number), session: uuid(2, session), action: ResponseAction(action), text: text, data: data)
    }
}
