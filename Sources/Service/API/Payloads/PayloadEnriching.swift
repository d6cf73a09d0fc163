import SatchelCore
internal import Stores
import HTTPTypes
import Jobs
import Payloads
import Platform

/// Has the media of a payload prepared, and puts what is ready in time into it.
struct PayloadEnriching: Sendable {
    let service: Service
    let payload: PushPayload
    let wishes: PayloadRequest
    let profile: Profile
    let tenant: TenantID
    /// Of the request, for the job; nil where there is none.
    let traceparent: String?
    /// Media that come with the payload, by their identifiers.
    var attachments: [AttachmentSubmission] = []
    /// Whether links open every rendition, and not only those that a device fetches.
    var opensAll = false

    struct Result: Sendable {
        var job: JobID
        var payload: EnrichedPayload
        /// Each of the payload's media, in their order.
        var media: [EnrichedMedium]
        /// When the first link ends.
        var linksEnd: Instant
        var headers: HTTPFields
    }

    func result() async throws -> Result {
        let job = try await finishedJob()
        let now = try await service.records.now()
        let life = wishes.life(at: now)
        var media: [EnrichedMedium] = []
        for attachment in job.attachments { media.append(try await medium(of: attachment, life)) }
        let outcomes = media.map(\.outcome)
        let expiresAt = media.compactMap(\.expiresAt).reduce(now + life, min)
        do throws(PayloadError) {
            let enriched = try payload.enriched(with: outcomes, onFailure: wishes.onFailure, expiresAt: expiresAt)
            for index in media.indices { media[index].mark(enriched.unfit) }
            let headers = PayloadHeaders(
                job: job.id, media: payload.media, outcomes: outcomes, dropped: enriched.dropped,
                unfit: enriched.unfit)
            return Result(
                job: job.id, payload: enriched, media: media, linksEnd: expiresAt, headers: headers.fields)
        } catch {
            var problem = Problem(error)
            problem.headers = PayloadHeaders(job: job.id, media: payload.media, outcomes: outcomes, dropped: []).fields
            throw problem
        }
    }

    // MARK: The job

    private var submission: JobSubmission {
        JobSubmission(
            tenant: tenant, profile: profile, mode: .lenient, priority: .interactive, deadline: wishes.deadline,
            delivery: wishes.delivery, encrypt: wishes.encrypt, traceparent: traceparent,
            attachments: payload.media.map { medium in
                attachments.first { $0.identifier == medium.identifier } ?? AttachmentSubmission(medium)
            })
    }

    /// Submits the media as a job, and gives it until the deadline. What isn't finished then is cancelled: the payload
    /// leaves without it.
    private func finishedJob() async throws -> JobRecord {
        try await service.intake.admit(tenant)
        let deadline = Duration.seconds(fraction: wishes.deadline)
        RequestReading.current?.end(within: deadline)
        let end = ContinuousClock.now + deadline + Self.grace
        guard
            let accepted = try await service.jobs.submit(
                submission, service.settings.submissions(of: submission.tenant)
            ).newJob
        else {
            throw AttachmentError.storeFailed(reason: "a generated id is already in use")
        }
        let record = try await service.waitForEnd(of: accepted, within: end - .now)
        guard !record.state.isFinished else { return record }
        // One that finishes just now stays as it is. The rest is not needed, even if the client has gone.
        let cancelled = try await RequestReading.$current.withValue(nil) {
            try await service.records.cancel(record.id, of: tenant)
        }
        guard let job = cancelled else {
            throw AttachmentError.notInStore(what: "The job of this payload")
        }
        if job.state == .cancelled { service.jobs.cancelled(job) }
        return job
    }

    /// At its deadline a job delivers what it has; that transaction is waited for.
    private static let grace: Duration = .milliseconds(60)

    // MARK: What came of it

    private func medium(of attachment: AttachmentRecord, _ life: Duration) async throws -> EnrichedMedium {
        guard let ready = PreparedMedium(attachment, for: payload.format) else {
            let failure = MediumFailure(attachment, deadline: wishes.deadline)
            return EnrichedMedium(
                identifier: attachment.identifier, record: attachment, outcome: .failure(failure))
        }
        let opened = opensAll ? Array(attachment.renditions.keys) : ready.roles
        guard
            let (link, token) = try await service.records.link(
                to: attachment.id, of: tenant, renditions: opened, for: life, delivery: wishes.delivery)
        else {
            let failure = MediumFailure(.notInStore(what: "'\(attachment.identifier)'"))
            return EnrichedMedium(
                identifier: attachment.identifier, record: attachment, outcome: .failure(failure))
        }
        let urls = Dictionary(
            uniqueKeysWithValues: opened.compactMap { role in
                attachment.renditions[role].map { (role, service.contentURL(token, role, $0.mediaType)) }
            })
        return EnrichedMedium(
            identifier: attachment.identifier, record: attachment,
            outcome: .success(ready.delivered(by: token, service)), urls: urls,
            expiresAt: link.expiresAt)
    }
}

/// What the answer says beside the payload, as structured fields (RFC 9651).
///
///     Satchel-Media: 2
///     Satchel-Failed: fetch_failed;of="photo", image_too_large;of="clip";at="/big_picture"
///     Satchel-Dropped: preview_url;of="photo", satchel
///     Satchel-Warning: no_media_found;at="/photo"
struct PayloadHeaders: Sendable {
    var job: JobID?
    var media: [PayloadMedium]
    var outcomes: [MediumOutcome]
    var dropped: [DroppedPart]
    var unfit: [UnfitPlace] = []
    /// Places of URLs in a payload that names no media.
    var urls: [JSONPointer] = []

    var fields: HTTPFields {
        var fields = HTTPFields()
        var failed = zip(media, outcomes).compactMap { medium, outcome in
            if case .failure(let failure) = outcome { Self.item(failure.code, of: medium.identifier) } else { nil }
        }
        failed += unfit.map { Self.item($0.failure.code, of: $0.medium, at: $0.pointer) }
        set("Satchel-Job", job?.rawValue ?? "", in: &fields)
        set("Satchel-Media", "\(media.count)", in: &fields)
        let warnings = urls.prefix(1).map { Self.item(NotificationWarning.Code.noMediaFound.rawValue, of: nil, at: $0) }
        set("Satchel-Warning", warnings.joined(), in: &fields)
        set("Satchel-Failed", failed.joined(separator: ", "), in: &fields)
        set(
            "Satchel-Dropped", dropped.map { Self.item($0.kind.rawValue, of: $0.medium) }.joined(separator: ", "),
            in: &fields)
        return fields
    }

    private func set(_ name: String, _ value: String, in fields: inout HTTPFields) {
        guard !value.isEmpty, let name = HTTPField.Name(name) else { return }
        fields[name] = value
    }

    private static func item(_ token: String, of identifier: String?, at pointer: JSONPointer? = nil) -> String {
        let parameters = [("of", identifier), ("at", pointer?.description)].compactMap { name, value in
            value.map { ";\(name)=\"\(text($0))\"" }
        }
        return token + parameters.joined()
    }

    /// An identifier as the inside of a structured field's string: what isn't printable ASCII is percent-encoded.
    private static func text(_ identifier: String) -> String {
        PercentCoding.encode(identifier) { byte in
            (0x20..<0x7F).contains(byte) && !"\"\\%".utf8.contains(byte)
        }
    }
}

extension AttachmentSubmission {
    /// Of a medium that a payload names by its URL.
    init(_ medium: PayloadMedium) {
        self.init(
            identifier: medium.identifier, location: .url(medium.url, headers: [:]),
            declaredType: medium.declaredType?.rawValue,
            request: RenditionRequest(
                thumbnailTime: medium.options.thumbnailTime,
                // A payload doesn't tell which it means: seconds of a clip, or a frame of an animation.
                thumbnailFrame: medium.options.thumbnailTime.flatMap(Int.init(exactly:)),
                thumbnailClippingRect: medium.options.thumbnailClippingRect),
            options: medium.options)
    }
}
