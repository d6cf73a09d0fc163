public import Attachments
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
            Array(submission.payload.utf8), type: submission.pushType, pointers: service.payloadPointers,
            attachments: submission.media.map(\.identifier))
    }

    /// A payload as it leaves, and the links that it is made with.
    struct Made {
        var payload: [UInt8]
        var tokens: [AccessToken]
        var links: [AccessEntry]
        var failed: [FiringRecord.Failure]
        var dropped: [String]
    }

    /// - Parameter job: That prepares its media; nil where it has none.
    /// - Throws: ``PayloadError`` where a medium failed and that was to be an error; an error of the store.
    func made(from job: JobRecord?, at now: Instant) async throws -> Made {
        let end = now + .seconds(fraction: submission.expiresIn)
        let ofJob = Dictionary(
            (job?.attachments ?? []).map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        let prepared = Dictionary(
            submission.media.compactMap { medium in medium.attachment.map { (medium.identifier, $0) } },
            uniquingKeysWith: { first, _ in first })
        var links: [AccessEntry] = []
        var tokens: [AccessToken] = []
        var failed: [FiringRecord.Failure] = []
        var outcomes: [MediumOutcome] = []
        let fresh = try service.records.newLinks(payload.media.count)
        for (medium, link) in zip(payload.media, fresh) {
            var attachment = ofJob[medium.identifier]
            if let id = prepared[medium.identifier] {
                attachment = try await service.records.attachment(id, of: tenant)
            }
            if let ready = attachment.flatMap(PreparedMedium.init) {
                links.append(
                    AccessEntry(
                        id: link.id, kind: .link, tenant: tenant, attachment: ready.attachment.id,
                        renditions: ready.roles, kid: link.kid, createdAt: now, expiresAt: end,
                        delivery: submission.delivery))
                tokens.append(link.token)
                outcomes.append(.success(ready.delivered(by: link.token, service)))
            } else {
                let failure =
                    attachment.map { MediumFailure($0, deadline: submission.deadline) }
                    ?? MediumFailure(.notInStore(what: "'\(medium.identifier)'"))
                failed.append(
                    FiringRecord.Failure(
                        identifier: medium.identifier, code: failure.code, message: failure.message))
                outcomes.append(.failure(failure))
            }
        }
        let enriched = try payload.enriched(with: outcomes, onFailure: submission.onFailure, expiresAt: end)
        return Made(
            payload: enriched.bytes, tokens: tokens, links: links, failed: failed,
            dropped: enriched.dropped.map { part in
                part.medium.map { "\(part.kind.rawValue) of \($0)" } ?? part.kind.rawValue
            })
    }
}

extension Service: FiringRenderer {
    public func completion(
        of firing: Firing, _ job: JobRecord?, at now: Instant
    ) async throws(AttachmentError) -> FiringCompletion {
        do {
            let payload = try NotificationPayload(firing.notification.submission, of: firing.record.tenant, self)
            let made = try await payload.made(from: job, at: now)
            var finished = FiringCompletion.Finished(
                payload: TokenTemplate(Data(made.payload), hiding: made.tokens), links: made.links,
                failed: made.failed, dropped: made.dropped, call: nil)
            if let url = firing.record.handover {
                let event = NotificationEvent(.notificationFired, firing, at: now)
                finished.call = event.call(
                    to: url, body: event.fired(made, submission: firing.notification.submission),
                    hiding: made.tokens)
            }
            return FiringCompletion(firing.record, at: now, .finished(finished))
        } catch let error as PayloadError {
            let report = ErrorReport(error)
            let event = NotificationEvent(.notificationFailed, firing, at: now)
            let call = firing.record.handover.map { event.call(to: $0, body: event.failed(report)) }
            return FiringCompletion(firing.record, at: now, .failed(report, call: call))
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .storeFailed(reason: "\(type(of: error))")
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
