public import SatchelCore
internal import Stores
import FoundationEssentials
public import Payloads

/// The progress of a notification's media.
enum NotificationMedia: String, Encodable {
    case none, preparing, ready, partial, failed
}

extension NotificationMedia {
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
    /// A notification as the API shows it.
    func body(of record: NotificationRecord) async throws -> JSONFields {
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
        let media = NotificationMedia(of: record, id.flatMap { source.materials.jobs[$0] }, ready: ready)
        // What was taken once is taken again, but by other settings.
        let payload = try? NotificationPayload(record.submission, of: record.tenant, self)
        var made: NotificationPayload.Made?
        if media != .none, media != .preparing {
            made = try? payload?.made(from: source, at: try await records.now(), for: .init(record))
        }
        let facts = try payload?.facts(made, source)
        let shownLast = last.map { last -> JSONFields in
            [
                "number": last.number, "state": last.state, "scheduledAt": last.scheduledAt,
                "firedAt": last.firedAt,
            ]
        }
        let next = record.next.map { next -> JSONFields in
            ["number": record.fired + 1, "at": next.at, "local": next.local, "note": next.note]
        }
        return [
            "id": record.id.rawValue, "generation": record.generation, "state": record.state, "media": media,
            "job": record.job?.rawValue, "category": record.submission.category,
            "trigger": record.submission.trigger, "firings": record.counts, "last": shownLast, "next": next,
            // As it would leave now; as it came, while its media are being prepared.
            "payloadBytes": made?.payload.count ?? record.submission.payload.utf8.count,
            // As far as they can be known while media are being prepared.
            "warnings": facts?.warnings ?? [], "metadata": record.submission.metadata,
            "createdAt": record.createdAt, "finishedAt": record.finishedAt,
            // When its record goes.
            "expiresAt": record.finishedAt.map { $0 + NotificationRetention.finished }, "error": record.error,
        ]
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
        let handover = call.map { call -> JSONFields in
            [
                "state": call.report.state, "attempts": call.report.attempts, "nextAt": call.report.nextAt,
                "reason": call.report.reason,
            ]
        }
        var responses = 0
        if firing.ticket != nil {
            responses = try await records.responseCount(
                of: firing.notification, firing: firing.number, tenant: firing.tenant)
        }
        let body: JSONFields = [
            "notification": firing.notification.rawValue, "number": firing.number, "id": firing.id.rawValue,
            "generation": firing.generation, "state": firing.state, "scheduledAt": firing.scheduledAt,
            "firedAt": firing.firedAt, "late": firing.late, "coalesced": firing.coalesced, "call": handover,
            "failed": firing.failed, "dropped": firing.dropped, "responses": responses, "error": firing.error,
        ]
        let facts = try JSONDocument.read(Array(try JSON.encode(body)), .passedOn).root
        return JSONValue(members: facts.members + [("payload", payload)])
    }
}
