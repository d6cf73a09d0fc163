import SatchelCore
internal import Stores
import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Jobs
import Payloads
import Platform

/// Takes notifications in: the body, the job that prepares the media, and the record.
struct NotificationSubmitting: Sendable {
    let service: Service
    let tenant: TenantID
    /// Of the request; nil where there is none.
    let traceparent: String?

    /// - Parameter id: The client's; nil for one of ours, or of an idempotency key.
    func submit(_ request: Request, id: NotificationID?) async throws -> NotificationAnswer {
        let submitting = Submitting(service: service)
        let key = id == nil ? try submitting.idempotencyKey(of: request) : nil
        try await submitting.admit(tenant)
        return try await BodyReceiver(service: service, descriptionPart: "notification").receive(request, of: tenant) {
            body in
            guard let description = body.description else {
                throw Problem(
                    .unsupportedMediaType, "unsupported_media_type",
                    "The 'Content-Type' is not supported. Send the notification as application/json, or as the part 'notification' of multipart/form-data."
                )
            }
            let named = id ?? key.map { Self.id(of: $0, tenant) }
            return try await submit(description, body, id: named ?? .generate(), isOfKey: key != nil)
        }
    }

    /// Takes in what was received.
    ///
    /// - Parameters:
    ///   - isOfKey: Whether the id stands for an idempotency key, so that another body is refused and takes no other's place.
    /// - Returns: Also whether the sources in the body are now the store's.
    func submit(
        _ description: [UInt8], _ body: ReceivedBody, id: NotificationID, isOfKey: Bool = false
    ) async throws -> (NotificationAnswer, keepsSources: Bool) {
        let wording = try NotificationReader(service).notification(description, hasParts: !body.parts.isEmpty)
        try checkParts(body, wording)
        let digest = try Self.digest(of: wording, body)
        if let known = try await service.records.notification(id, of: tenant), known.state != .cancelled {
            if known.bodyDigest == digest { return (.unchanged(known), keepsSources: false) }
            if isOfKey {
                throw Problem(
                    .unprocessableContent, "idempotency_conflict",
                    "This Idempotency-Key was already used with a different body. Use a new key for a new request.")
            }
        }
        return try await put(id, wording, body, digest: digest)
    }

    private func put(
        _ id: NotificationID, _ wording: NotificationRequest, _ body: ReceivedBody, digest: String
    ) async throws -> (NotificationAnswer, keepsSources: Bool) {
        var submission = NotificationSubmission(
            payload: wording.payload, format: wording.format, pushType: wording.pushType, expiresIn: wording.expiresIn,
            delivery: wording.delivery, profile: wording.profile, onFailure: wording.onFailure,
            deadline: wording.deadline,
            media: wording.identifiers.map {
                NotificationSubmission.Medium(identifier: $0, attachment: wording.prepared[$0])
            },
            trigger: wording.trigger, lateLimit: wording.lateLimit, handover: wording.handover,
            metadata: wording.metadata, category: nil, traceparent: traceparent)
        let payload: PushPayload
        do throws(PayloadError) {
            payload = try NotificationPayload(submission, of: tenant, service).payload
        } catch {
            throw Problem(error)
        }
        submission.category = payload.category
        let errors = ValidationErrors()
        for (pointer, identifier) in payload.unknownContentIDs {
            errors.add(
                "/payload\(pointer)",
                "No attachment of the notification has the identifier '\(identifier.prefix(64))'. Add it to 'attachments'."
            )
        }
        try errors.check()
        try await checkPrepared(wording)
        // By the clock of the store, as it will be judged.
        let now = try await service.records.now()
        let next = try first(wording.trigger, at: now)
        let media = try await media(of: id, wording, payload, body)
        if media != nil {
            try checkLead(wording, at: now)
            submission.lead = wording.lead
        }
        var job: (record: JobRecord, keepsSources: Bool)?
        if let media, wording.preparation == .now { job = try await self.job(media) }
        let notification = NewNotification(
            id: id, tenant: tenant, bodyDigest: digest, submission: submission, job: job?.record.id,
            attachments: (job?.record.attachments.map(\.id) ?? []) + wording.prepared.values, next: next,
            rules: wording.trigger?.timeZone == nil ? nil : service.timeZones.version, acceptedAt: now,
            sources: sources(media, wording))
        let answer: NotificationAnswer
        do {
            answer = try await service.records.put(
                notification, limit: service.settings.tenantQuotas[notification.tenant].pendingNotifications
            ).get()
        } catch {
            // Nothing is left of what isn't taken: a job that was made for it goes, with its sources.
            if let job, job.keepsSources {
                let isDeleted = try await RequestReading.$current.withValue(nil) {
                    try await service.records.deleteJob(job.record.id, of: tenant)
                }
                if isDeleted { service.jobs.deleted(job.record.id, of: tenant) }
            }
            throw (error as? TriggerError).map { Problem($0, of: "/trigger") } ?? error
        }
        service.notifications.changed()
        return (answer, keepsSources: job?.keepsSources ?? false)
    }

    private func first(_ trigger: Trigger?, at now: Instant) throws(Problem) -> Occurrence? {
        guard let trigger else {
            return Occurrence(at: now, local: nil, note: nil, position: .instant(now))
        }
        do throws(TriggerError) {
            return try trigger.first(accepted: now, in: service.timeZones)
        } catch {
            throw Problem(error, of: "/trigger")
        }
    }

    /// While media are prepared for one firing, another must not be due for which they would have to be as well.
    private func checkLead(_ wording: NotificationRequest, at now: Instant) throws {
        guard let trigger = wording.trigger, let lead = wording.lead,
            let gap = try? trigger.shortestGap(accepted: now, in: service.timeZones), gap.inSeconds < 2 * lead
        else { return }
        let detail =
            "The trigger fires every \(PlainValue.number(gap.inSeconds).text) s, and 'lead' can be at most half of that. Use a shorter lead, or a trigger that fires less often."
        throw Problem(
            .unprocessableContent, "lead_too_long", detail, errors: [Problem.Field(pointer: "/lead", detail: detail)])
    }

    private func checkPrepared(_ wording: NotificationRequest) async throws {
        let errors = ValidationErrors()
        for (identifier, id) in wording.prepared where try await service.records.attachment(id, of: tenant) == nil {
            errors.add(
                "/attachments/\(wording.identifiers.firstIndex(of: identifier) ?? 0)/attachment_id",
                "'\(id.rawValue.prefix(64))' is not an attachment. Prepare it first, or use a url or a part.")
        }
        try errors.check()
    }

    /// Every part is used, and every part that is used is there.
    private func checkParts(_ body: ReceivedBody, _ wording: NotificationRequest) throws(Problem) {
        let errors = ValidationErrors()
        Submitting.check(body.parts.keys, usedBy: wording.attachments, errors)
        try errors.check()
    }

    // MARK: Its media

    /// What is to be prepared, as a job; nil for nothing. Its id is made of what it prepares: of a notification whose media
    /// didn't change it is the same job.
    private func media(
        of id: NotificationID, _ wording: NotificationRequest, _ payload: PushPayload, _ body: ReceivedBody
    ) async throws -> JobSubmission? {
        let submitting = Submitting(service: service)
        let uploads = try await submitting.uploads(of: wording.attachments, tenant: tenant)
        let own = wording.attachments.compactMap {
            submitting.attachment($0, body, uploads, for: UploadUse.subject(of: id))
        }
        let attachments =
            own
            + payload.media.filter { !wording.identifiers.contains($0.identifier) }.map(AttachmentSubmission.init)
        guard !attachments.isEmpty else { return nil }
        let profile = try await service.payloadProfile(
            named: wording.profile, category: payload.category, of: tenant)
        let digest = try Self.digest(
            of: Media(
                id: id.rawValue, profile: profile, attachments: wording.attachments, encrypt: wording.encrypt, body,
                payload))
        return JobSubmission(
            tenant: tenant, id: JobID(rawValue: "notification-\(digest.prefix(32))"), profile: profile, mode: .lenient,
            priority: .interactive,
            // What is only due later may be tried again for longer.
            deadline: wording.trigger == nil ? wording.deadline : nil, bodyDigest: digest, delivery: wording.delivery,
            encrypt: wording.encrypt, traceparent: traceparent, attachments: attachments)
    }

    /// What is kept of it: what is prepared ahead of each firing, or may be tried again. What was sent along is here once.
    private func sources(_ media: JobSubmission?, _ wording: NotificationRequest) -> JobSubmission? {
        guard var media, wording.preparation == .each || wording.trigger != nil else { return nil }
        media.deadline = nil
        media.attachments.removeAll { if case .url = $0.location { false } else { true } }
        return media.attachments.isEmpty ? nil : media
    }

    private func job(_ submission: JobSubmission) async throws -> (record: JobRecord, keepsSources: Bool) {
        switch try await service.jobs.submit(submission, service.settings.submissions(of: submission.tenant)) {
        case .accepted(let record), .claimed(let record, _), .adopted(let record): return (record, true)
        case .unchanged(let record):
            guard record.state == .failed || record.state == .cancelled else { return (record, false) }
            // What failed before is worth another attempt.
            if case .accepted(let again)? = try await service.records.retry(record.id, of: tenant) {
                service.jobs.submitted()
                return (again, false)
            }
            return (record, false)
        case .conflict:
            throw AttachmentError.storeFailed(reason: "a job without an idempotency key conflicts with another")
        }
    }

    // MARK: Digests

    /// What tells the media of two bodies apart.
    private struct Media: Encodable {
        var id: String
        var profile: Profile
        var attachments: [SubmissionRequest.Attachment]
        var encrypt: EncryptionScheme?
        var parts: [String: String]
        var urls: [String]

        init(
            id: String, profile: Profile, attachments: [SubmissionRequest.Attachment], encrypt: EncryptionScheme?,
            _ body: ReceivedBody, _ payload: PushPayload
        ) {
            self.encrypt = encrypt
            self.id = id
            self.profile = profile
            self.attachments = attachments
            parts = body.parts.mapValues(\.sha256)
            urls = payload.media.map { "\($0.identifier) \($0.url) \($0.options)" }
        }
    }

    private struct Canonical: Encodable {
        var request: NotificationRequest
        var parts: [String: String]
    }

    private static func digest(of wording: NotificationRequest, _ body: ReceivedBody) throws -> String {
        try digest(of: Canonical(request: wording, parts: body.parts.mapValues(\.sha256)))
    }

    private static func digest(of value: some Encodable) throws -> String {
        SHA256.hash(data: try JSON.encode(value)).hexadecimal
    }

    /// An idempotency key's notification: the same key is the same notification.
    private static func id(of key: String, _ tenant: TenantID) -> NotificationID {
        let digest = SHA256.hash(data: Data("\(tenant.rawValue)\n\(key)".utf8)).hexadecimal
        return NotificationID(rawValue: "key-\(digest.prefix(32))")
    }
}
