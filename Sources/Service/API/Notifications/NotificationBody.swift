public import SatchelCore
import FoundationEssentials
public import Payloads

/// A notification as the API shows it.
struct NotificationBody: Encodable {
    /// How far its media are.
    enum Media: String, Encodable {
        case none, preparing, ready, partial, failed
    }

    struct Next: Encodable {
        var number: Int
        var at: Instant
        @Nullable var local: String?
        @Nullable var note: String?
    }

    struct Last: Encodable {
        var number: Int
        var state: FiringRecord.State
        var scheduledAt: Instant
        @Nullable var firedAt: Instant?
    }

    var id: String
    var generation: Int
    var state: NotificationRecord.State
    var media: Media
    @Nullable var job: String?
    @Nullable var category: String?
    @Nullable var trigger: Trigger?
    var firings: NotificationRecord.Counts
    @Nullable var last: Last?
    @Nullable var next: Next?
    /// As it would leave now; as it came, while its media are being prepared.
    var payloadBytes: Int
    /// As far as they can be known while media are being prepared.
    var warnings: [NotificationWarning]
    var metadata: [String: String]
    var createdAt: Instant
    @Nullable var finishedAt: Instant?
    /// When its record goes.
    @Nullable var expiresAt: Instant?
    @Nullable var error: ErrorReport?
}

/// A firing as the API shows it, but for its payload.
private struct FiringBody: Encodable {
    struct Call: Encodable {
        var state: WebhookReport.State
        var attempts: Int
        @Nullable var nextAt: Instant?
        @Nullable var reason: String?
    }

    var notification: String
    var number: Int
    var id: String
    var generation: Int
    var state: FiringRecord.State
    var scheduledAt: Instant
    @Nullable var firedAt: Instant?
    @Nullable var late: Double?
    var coalesced: Int
    @Nullable var call: Call?
    var failed: [FiringMedium.Failure]
    var dropped: [String]
    /// How many came to it.
    var responses: Int
    @Nullable var error: ErrorReport?
}

extension NotificationBody.Media {
    /// - Parameters:
    ///   - job: That prepares them; nil where there is none, or none yet.
    ///   - ready: What was prepared of them before, by identifier.
    init(of record: NotificationRecord, _ job: JobRecord?, ready: [String: AttachmentID]) {
        let isBegun = record.submission.lead == nil || record.state != .pending || record.job != nil
        let isTriedAgain = record.mediaDueAt != nil && !record.media.awaitsJob
        let isUnfinished = job.map { !$0.state.isFinished } ?? false
        guard isBegun, !isTriedAgain, !isUnfinished else {
            self = .preparing
            return
        }
        guard let job else {
            self = record.submission.media.isEmpty && record.job == nil ? .none : .ready
            return
        }
        let attachments = job.attachments.filter { ready[$0.identifier] == nil }
        let failed = attachments.count { $0.state != .delivered }
        self = failed == 0 ? .ready : failed == attachments.count && ready.isEmpty ? .failed : .partial
    }
}

extension Service {
    func body(of record: NotificationRecord) async throws -> NotificationBody {
        var last: FiringRecord?
        if record.fired > 0 {
            last = try await records.firing(record.fired, of: record.id, tenant: record.tenant)
        }
        // One that fires no more shows the media that it fired with last.
        let hasOwn = record.submission.lead == nil || record.state == .pending
        let (id, ready) = hasOwn ? (record.job, record.media.ready) : (last?.job, last?.ready ?? [:])
        let source = NotificationPayload.MediaSource(
            job: id, ready: ready,
            materials: try await records.materials(
                [record.tenant: .init(record.submission, job: id, ready: ready)])[record.tenant] ?? FiringMaterials())
        let media = NotificationBody.Media(of: record, id.flatMap { source.materials.jobs[$0] }, ready: ready)
        // What was taken once is taken again, but by other settings.
        let payload = try? NotificationPayload(record.submission, of: record.tenant, self)
        var made: NotificationPayload.Made?
        if media != .none, media != .preparing {
            made = try? payload?.made(from: source, at: try await records.now(), for: .init(record))
        }
        let facts = try payload?.facts(made, source)
        return NotificationBody(
            id: record.id.rawValue, generation: record.generation, state: record.state, media: media,
            job: record.job?.rawValue, category: record.submission.category, trigger: record.submission.trigger,
            firings: record.counts,
            last: last.map {
                NotificationBody.Last(
                    number: $0.number, state: $0.state, scheduledAt: $0.scheduledAt, firedAt: $0.firedAt)
            },
            next: record.next.map {
                NotificationBody.Next(number: record.fired + 1, at: $0.at, local: $0.local, note: $0.note)
            },
            payloadBytes: made?.payload.count ?? record.submission.payload.utf8.count,
            warnings: facts?.warnings ?? [], metadata: record.submission.metadata, createdAt: record.createdAt,
            finishedAt: record.finishedAt,
            expiresAt: record.finishedAt.map { $0 + NotificationRetention.finished }, error: record.error)
    }

    /// A firing as the API shows it: its payload is byte for byte as it was handed over, with its links as far as they live.
    public func document(_ firing: FiringRecord) async throws -> JSONValue {
        var call: CallRecord?
        if firing.handover != nil { call = try await records.call(firing.id.rawValue, of: firing.tenant) }
        var payload = JSONValue.null
        if let template = firing.payload {
            let text = try await records.text(of: template, of: firing.tenant)
            payload = try JSONDocument.read(Array(text), .enriched).root
        }
        let body = FiringBody(
            notification: firing.notification.rawValue, number: firing.number, id: firing.id.rawValue,
            generation: firing.generation, state: firing.state, scheduledAt: firing.scheduledAt,
            firedAt: firing.firedAt, late: firing.late, coalesced: firing.coalesced,
            call: call.map {
                FiringBody.Call(
                    state: $0.report.state, attempts: $0.report.attempts, nextAt: $0.report.nextAt,
                    reason: $0.report.reason)
            },
            failed: firing.failed, dropped: firing.dropped,
            responses: firing.ticket == nil
                ? 0
                : try await records.responseCount(
                    of: firing.notification, firing: firing.number, tenant: firing.tenant),
            error: firing.error)
        let facts = try JSONDocument.read(Array(try JSON.encode(body)), .passedOn).root
        return JSONValue(members: facts.members + [("payload", payload)])
    }
}
