import Attachments
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Jobs
import Logging
import NIOCore

/// Following a job as it goes on, by server-sent events.
struct EventRoutes: Sendable {
    /// How often the record is looked at while nothing is heard: another process may have the job.
    static let lookInterval: Duration = .seconds(1)
    /// Events that wait for a slow reader; the record tells what is dropped.
    static let backlog = 256

    let service: Service

    func add(to table: RouteTable) {
        table.on(.jobEvents) { request, context in
            let id = JobID(rawValue: try context.parameter("id"))
            guard let record = try await service.records.job(id, of: context.tenant) else { throw Problem.notFound }
            let last = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
            // Whoever has heard the end needs nothing more; to an EventSource this says not to come back.
            if record.state.isFinished, last == EventText.endID(record) { return Response(status: .noContent) }
            let resumesAt = last.flatMap { last in
                service.jobs.events.remembers(last, of: record.id, tenant: record.tenant) ? last : nil
            }
            let (pieces, feed) = AsyncStream.makeStream(
                of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(Self.backlog))
            let following = Following(service: service, record: record, last: resumesAt)
            let telling = Task {
                do {
                    try await following.publish { feed.yield($0) }
                } catch is CancellationError {
                } catch {
                    context.logger.error("following a job failed", metadata: ["error": "\(error)"])
                }
                feed.finish()
            }
            // Whoever leaves is not told more, even where there is nothing to tell.
            feed.onTermination = { _ in telling.cancel() }
            context.channel.closeFuture.whenComplete { _ in feed.finish() }
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no",
                ],
                body: ResponseBody(asyncSequence: pieces))
        }
    }
}

extension HTTPField.Name {
    /// Has a proxy in front pass on what comes as it comes.
    fileprivate static var accelBuffering: HTTPField.Name {
        HTTPField.Name("X-Accel-Buffering") ?? .cacheControl
    }
}

/// One follower of one job.
private struct Following: Sendable {
    private enum Signal: Sendable {
        case received(JobEvents.Numbered)
        /// A moment has passed.
        case tick
    }

    let service: Service
    let record: JobRecord
    /// The last event that the follower has, where that is remembered here.
    let last: String?

    /// Sends the job's events to its end, or until it is cancelled.
    func publish(_ send: (ByteBuffer) -> Void) async throws {
        if last == nil { send(EventText.event("job", id: nil, data: try await service.document(record))) }
        if record.state.isFinished {
            send(try await end(record))
            return
        }
        let (signals, feed) = AsyncStream.makeStream(
            of: Signal.self, bufferingPolicy: .bufferingNewest(EventRoutes.backlog))
        let listening = Task { [events = service.jobs.events] in
            for await numbered in events.follow(record.id, of: record.tenant, after: last) {
                feed.yield(.received(numbered))
            }
        }
        let ticking = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: min(EventRoutes.lookInterval, service.settings.heartbeat))
                feed.yield(.tick)
            }
        }
        defer {
            listening.cancel()
            ticking.cancel()
        }
        var isQuiet = true
        var sentAt = ContinuousClock.now
        for await signal in signals {
            switch signal {
            case .received(let numbered):
                isQuiet = false
                guard numbered.event.generation >= record.generation else { continue }
                if case .finished = numbered.event.what {
                    guard let latest = try await latest() else { return }
                    // Else it was replaced meanwhile, or deleted and submitted anew.
                    guard latest.state.isFinished else { continue }
                    send(try await end(latest))
                    return
                }
                send(try EventText.event(numbered, of: record))
                sentAt = .now
            case .tick:
                if isQuiet {
                    guard let latest = try await latest() else { return }
                    if latest.state.isFinished {
                        send(try await end(latest))
                        return
                    }
                }
                isQuiet = true
                if ContinuousClock.now - sentAt >= service.settings.heartbeat {
                    send(ByteBuffer(string: ": still here\n\n"))
                    sentAt = .now
                }
            }
        }
    }

    /// Nil where the job was deleted meanwhile.
    private func latest() async throws -> JobRecord? {
        try await service.records.job(record.id, of: record.tenant)
    }

    private func end(_ record: JobRecord) async throws -> ByteBuffer {
        EventText.event("finished", id: EventText.endID(record), data: try await service.document(record))
    }
}

/// Events as `text/event-stream` has them.
private enum EventText {
    /// The end of a job has the same id wherever and whenever it is told.
    static func endID(_ record: JobRecord) -> String { "end-\(record.generation)" }

    static func event(_ name: String, id: String?, data: Data) -> ByteBuffer {
        var text = ByteBuffer(string: "event: \(name)\n")
        if let id { text.writeString("id: \(id)\n") }
        text.writeString("data: ")
        text.writeBytes(data)
        text.writeString("\n\n")
        return text
    }

    static func event(_ numbered: JobEvents.Numbered, of record: JobRecord) throws -> ByteBuffer {
        let job = record.id.rawValue
        let (name, data) = try describe(numbered.event.what, job)
        return event(name, id: numbered.id, data: data)
    }

    private struct Bare: Encodable {
        var jobId: String
    }

    private struct Start: Encodable {
        var jobId: String
        var attempt: Int
    }

    private struct Stage: Encodable {
        var jobId: String
        var attachmentId: String
        var name: String
        var seconds: Double
        @Nullable var note: String?
    }

    private struct Progress: Encodable {
        var jobId: String
        var attachmentId: String
        var received: Int64
        @Nullable var total: Int64?
    }

    private struct Made: Encodable {
        var jobId: String
        var attachmentId: String
        var role: RenditionRole
        var mediaType: Attachments.MediaType
        @Nullable var width: Int?
        @Nullable var height: Int?
        @Nullable var duration: Double?
        var bytes: Int64
        var seconds: Double
        var note: String
    }

    private static func describe(_ what: JobEvent.What, _ job: String) throws -> (String, Data) {
        switch what {
        case .accepted: ("accepted", try JSON.encode(Bare(jobId: job)))
        case .started(let attempt): ("started", try JSON.encode(Start(jobId: job, attempt: attempt)))
        case .stage(let id, let step):
            (
                "stage",
                try JSON.encode(
                    Stage(
                        jobId: job, attachmentId: id.rawValue, name: step.name, seconds: step.seconds,
                        note: step.note))
            )
        case .progress(let id, let received, let total):
            (
                "progress",
                try JSON.encode(
                    Progress(jobId: job, attachmentId: id.rawValue, received: received, total: total))
            )
        case .rendition(let id, let report):
            (
                "rendition",
                try JSON.encode(
                    Made(
                        jobId: job, attachmentId: id.rawValue, role: report.role, mediaType: report.type,
                        width: report.size?.width, height: report.size?.height, duration: report.duration,
                        bytes: report.bytes, seconds: report.seconds, note: report.note))
            )
        case .postponed: ("postponed", try JSON.encode(Bare(jobId: job)))
        case .finished: ("finished", try JSON.encode(Bare(jobId: job)))
        }
    }
}
