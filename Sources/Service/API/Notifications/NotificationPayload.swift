public import SatchelCore
internal import Stores
import FoundationEssentials
public import Jobs
import Payloads

/// A notification's payload, and what its media are made of.
struct NotificationPayload: Sendable {
    let service: Service
    let tenant: TenantID
    let submission: NotificationSubmission
    let payload: PushPayload

    init(_ submission: NotificationSubmission, of tenant: TenantID, _ service: Service) throws(PayloadError) {
        self.service = service
        self.tenant = tenant
        self.submission = submission
        payload = try PushPayload(
            Array(submission.payload.utf8), format: submission.format, type: submission.pushType,
            pointers: service.payloadPointers,
            attachments: submission.media.map(\.identifier))
    }

    /// What a payload is made for.
    struct Purpose {
        var notification: NotificationID
        var generation: Int
        /// The firing's number; nil: to see what one would be.
        var firing: Int?
        /// Seconds that a preview lives; nil for what is handed over.
        var preview: Double?

        init(_ notification: NotificationRecord, firing: Int? = nil, preview: Double? = nil) {
            self.notification = notification.id
            generation = notification.generation
            self.firing = firing
            self.preview = preview
        }
    }

    /// A medium in a payload, and the link that opens it.
    struct Medium {
        var shown: EnrichedMedium
        var link: AccessEntry?

        var record: FiringMedium {
            var medium = FiringMedium(
                identifier: shown.identifier, attachment: link?.attachment, link: link?.id, failure: nil)
            var failure = shown.unfit
            if case .failure(let reason) = shown.outcome { failure = reason }
            medium.failure = failure.map {
                .init(identifier: shown.identifier, code: $0.code, message: $0.message)
            }
            return medium
        }
    }

    /// A payload as it leaves, and what it is made with.
    struct Made {
        var payload: [UInt8]
        var media: [Medium]
        var tokens: [AccessToken]
        /// Of renditions that are encrypted.
        var keys: [RenditionKeyPlace: String]
        /// As it is now; nil where the payload names none that is known.
        var category: Category?
        /// For responses; nil where nobody takes any.
        var ticket: Ticket?
        var dropped: [String]
        /// When links of a firing end, or would.
        var linksEnd: Instant

        var links: [AccessEntry] { media.compactMap(\.link) }

        var failed: [FiringMedium.Failure] { media.compactMap(\.record.failure) }
    }

    /// What a payload's media come from.
    struct MediaSource {
        /// Prepares them; nil where no job does.
        var job: JobID?
        /// What was prepared before, by identifier.
        var ready: [String: AttachmentID]
        /// What is there of what is named.
        var materials: FiringMaterials
    }

    /// Its media, as far as they are, each in the place of one that the payload names.
    private func attachments(_ source: MediaSource) -> [AttachmentRecord?] {
        let ofJob = Dictionary(
            (source.job.flatMap { source.materials.jobs[$0] }?.attachments ?? []).map { ($0.identifier, $0) },
            uniquingKeysWith: { first, _ in first })
        let prepared = Dictionary(
            submission.media.compactMap { medium in medium.attachment.map { (medium.identifier, $0) } },
            uniquingKeysWith: { first, _ in first })
        return payload.media.map { medium in
            if let id = prepared[medium.identifier] ?? source.ready[medium.identifier] {
                return source.materials.attachments[id]
            }
            return ofJob[medium.identifier]
        }
    }

    private func category(_ materials: FiringMaterials) -> Category? {
        submission.category.flatMap { materials.categories[$0] }
    }

    /// What warnings are made of, as far as they can be known now.
    ///
    /// - Parameter made: Nil while media are being prepared, and where it can't be made.
    func facts(_ made: Made?, _ source: MediaSource) throws -> NotificationFacts {
        if let made {
            return NotificationFacts(
                of: try PushPayload(
                    made.payload, format: submission.format, type: submission.pushType, rules: .enriched),
                category: made.category, media: made.media.map(\.shown.facts), dropped: made.dropped)
        }
        var media: [NotificationFacts.Medium] = []
        var isPreparing = false
        for (medium, attachment) in zip(payload.media, attachments(source)) {
            if let prepared = attachment.flatMap({ PreparedMedium($0, for: submission.format) }) {
                media.append(prepared.facts(medium.identifier))
            } else if let attachment, attachment.state.isFinished {
                let failure = MediumFailure(attachment, deadline: submission.deadline)
                media.append(NotificationFacts.Medium(medium.identifier, failure))
            } else {
                isPreparing = true
                media.append(NotificationFacts.Medium(identifier: medium.identifier))
            }
        }
        var facts = NotificationFacts(
            of: payload, category: category(source.materials), media: media, dropped: [])
        // With a medium that is there it will be.
        if isPreparing { facts.isMutable = true }
        return facts
    }

    /// - Throws: ``PayloadError`` where a medium failed and that was to be an error; an error of the store's keys.
    func made(from source: MediaSource, at now: Instant, for purpose: Purpose) throws -> Made {
        let linksEnd = now + .seconds(fraction: submission.expiresIn)
        let end = purpose.preview.map { now + .seconds(fraction: $0) } ?? linksEnd
        var media: [Medium] = []
        let fresh = try service.records.newTokens(.link, payload.media.count)
        for ((medium, link), attachment) in zip(zip(payload.media, fresh), attachments(source)) {
            media.append(self.medium(medium.identifier, attachment, link, from: now, to: end, purpose))
        }
        let category = category(source.materials)
        let (ticket, token) = try ticket(of: category, from: now, to: end, purpose)
        let enriched = try payload.enriched(
            with: media.map(\.shown.outcome), onFailure: submission.onFailure, expiresAt: linksEnd,
            respond: token.map(service.responseURL))
        for index in media.indices { media[index].shown.mark(enriched.unfit) }
        return Made(
            payload: enriched.bytes, media: media,
            tokens: zip(media, fresh).filter { $0.0.link != nil }.map(\.1.token) + [token].compactMap(\.self),
            keys: media.reduce(into: [:]) { keys, medium in
                guard let record = medium.shown.record, let link = medium.link else { return }
                keys.merge(service.keys(of: record, by: link.id)) { $1 }
            },
            category: category,
            ticket: enriched.takesResponses ? ticket : nil,
            dropped: enriched.dropped.map(\.text), linksEnd: linksEnd)
    }

    private func medium(
        _ identifier: String, _ attachment: AttachmentRecord?, _ link: NewToken, from now: Instant, to end: Instant,
        _ purpose: Purpose
    ) -> Medium {
        guard let attachment, let ready = PreparedMedium(attachment, for: submission.format) else {
            let failure =
                attachment.map { MediumFailure($0, deadline: submission.deadline) }
                ?? MediumFailure(.notInStore(what: "'\(identifier)'"))
            return Medium(
                shown: EnrichedMedium(identifier: identifier, record: attachment, outcome: .failure(failure)))
        }
        // A page shows more than a device fetches.
        let opened = purpose.preview == nil ? ready.roles : Array(attachment.renditions.keys)
        return Medium(
            shown: EnrichedMedium(
                identifier: identifier, record: attachment,
                outcome: .success(ready.delivered(by: link.token, service))),
            link: AccessEntry(
                id: link.id, kind: .link, tenant: tenant, attachment: ready.attachment.id, renditions: opened,
                kid: link.kid, createdAt: now, expiresAt: end, delivery: submission.delivery))
    }

    private func ticket(
        of category: Category?, from now: Instant, to end: Instant, _ purpose: Purpose
    ) throws -> (Ticket?, AccessToken?) {
        guard payload.isShown, let category, let responses = category.responses,
            let token = try service.records.newTokens(.respond, 1).first
        else { return (nil, nil) }
        let context = ResponseContext(
            category: category, generation: purpose.generation, metadata: submission.metadata,
            isPreview: purpose.preview != nil)
        let ticket = Ticket(
            token, tenant: tenant, notification: purpose.notification, firing: purpose.firing,
            content: .responses(context), createdAt: now,
            expiresAt: purpose.preview == nil ? now + .seconds(fraction: responses.ttl) : end)
        return (ticket, token.token)
    }
}

extension Service {
    /// Where whoever holds `token` responds: `https://…/r/satr_…`.
    func responseURL(_ token: AccessToken) -> String { "\(settings.publicURL)/r/\(token.secretText)" }
}

/// A firing's payload before it leaves.
public struct PayloadDraft: Sendable {
    enum Outcome {
        case made(NotificationPayload.Made, FiringCompletion.Finished)
        case failed(ErrorReport)
    }

    let outcome: Outcome
}

extension Service: FiringRenderer {
    public func draft(
        of firing: Firing, from materials: FiringMaterials, at instant: Instant
    ) throws(AttachmentError) -> PayloadDraft {
        do {
            let payload = try NotificationPayload(firing.notification.submission, of: firing.record.tenant, self)
            let made = try payload.made(
                from: .init(job: firing.record.job, ready: firing.record.ready, materials: materials), at: instant,
                for: .init(firing.notification, firing: firing.record.number))
            let finished = FiringCompletion.Finished(
                payload: TokenTemplate(Data(made.payload), hiding: made.tokens, keys: made.keys), links: made.links,
                ticket: made.ticket, media: made.media.map(\.record), dropped: made.dropped, call: nil)
            return PayloadDraft(outcome: .made(made, finished))
        } catch let error as PayloadError {
            return PayloadDraft(outcome: .failed(ErrorReport(error)))
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .storeFailed(reason: "\(type(of: error))")
        }
    }

    public func completion(of firing: Firing, as draft: PayloadDraft, at now: Instant) -> FiringCompletion {
        switch draft.outcome {
        case .made(let made, var finished):
            if let url = firing.record.handover {
                let event = NotificationEvent(.notificationFired, firing, at: now)
                finished.call = event.call(
                    to: url, body: event.fired(made, submission: firing.notification.submission),
                    hiding: made.tokens, keys: made.keys)
            }
            return FiringCompletion(firing.record, at: now, .finished(finished))
        case .failed(let report):
            let event = NotificationEvent(.notificationFailed, firing, at: now)
            let call = firing.record.handover.map { event.call(to: $0, body: event.failed(report)) }
            return FiringCompletion(firing.record, at: now, .failed(report, call: call))
        }
    }

    public func missedCall(
        _ notification: NotificationRecord, _ id: FiringID, _ occurrence: Occurrence, _ now: Instant
    ) -> OutgoingCall? {
        guard let url = notification.submission.handover else { return nil }
        let firing = FiringRecord(
            id: id, tenant: notification.tenant, notification: notification.id, generation: notification.generation,
            number: notification.fired + 1, scheduledAt: occurrence.at, isManual: false, idempotencyKey: nil,
            coalesced: 0, handover: url, waitsUntil: now, createdAt: now)
        let event = NotificationEvent(.notificationMissed, Firing(firing, of: notification), at: now)
        return event.call(to: url, body: event.missed)
    }

    public func mediaFailedCall(
        _ notification: NotificationRecord, _ failures: [MediaFailure], _ now: Instant
    ) -> OutgoingCall? {
        notification.submission.handover.map {
            MediaEvent(notification: notification, failures: failures, now: now).call(to: $0)
        }
    }
}

extension ErrorReport {
    /// Why a payload that was taken once could not be made: one of its media failed, and that was to be an error.
    fileprivate init(_ error: PayloadError) {
        guard case .mediumFailed(_, let failure) = error else {
            self.init(.invalidSource, message: error.message)
            return
        }
        // A medium that doesn't fit has a code of the payload's.
        self.init(ErrorCode(rawValue: failure.code) ?? .capUnreachable, message: error.message)
    }
}
