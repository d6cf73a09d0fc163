import SatchelCore
internal import Stores
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
            let last = request.headers["Last-Event-ID"]
            // Whoever has heard the end needs nothing more; to an EventSource this says not to come back.
            if record.state.isFinished, last == EventText.endID(record) { return Response(status: .noContent) }
            let resumesAt = last.flatMap { last in
                service.jobs.events.remembers(last, of: record.id, tenant: record.tenant) ? last : nil
            }
            let following = Following(
                service: service, record: record, last: resumesAt, told: last, credentials: context.credentials)
            return .events(context) { try await following.publish($0) }
        }
    }
}

extension Response {
    /// Server-sent events, for as long as there are any, the client is there and its credentials are good.
    ///
    /// - Parameter tell: Sends them; cancelled where nobody is there any more.
    static func events(
        _ context: ServiceContext, headers: HTTPFields = [:],
        tell: @escaping @Sendable (@escaping @Sendable (ByteBuffer) -> Void) async throws -> Void
    ) -> Response {
        let (pieces, feed) = AsyncStream.makeStream(
            of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(EventRoutes.backlog))
        let telling = Task {
            do {
                try await context.credentials.answering { try await tell { feed.yield($0) } }
            } catch is CancellationError {
            } catch is Problem {
            } catch {
                context.logger.error("job event stream failed", metadata: ["error": "\(error)"])
            }
            feed.finish()
        }
        // Whoever leaves is not told more, even where there is nothing to tell.
        feed.onTermination = { _ in telling.cancel() }
        context.channel.closeFuture.whenComplete { _ in feed.finish() }
        var headers = headers
        headers[.contentType] = "text/event-stream"
        headers[.cacheControl] = "no-store"
        // Has a proxy in front pass on what comes as it comes.
        headers["X-Accel-Buffering"] = "no"
        return Response(status: .ok, headers: headers, body: ResponseBody(asyncSequence: pieces))
    }
}

/// One follower of one job.
private struct Following: Sendable {
    private enum Signal: Sendable {
        case received(JobEvents.Numbered)
        /// From the node that is at this attempt.
        case relayed(EventRelay.Update, RemoteAttempt)
        /// A moment has passed.
        case tick
        /// What another node tells of a job that has ended had its time to come.
        case late
    }

    /// The node that is listened to.
    private struct Relay {
        var attempt: RemoteAttempt
        /// What tells of it here.
        var told: JobEvents.Numbered
        var listening: Task<Void, Never>
        var isHeard = false
        /// Whether what it didn't tell was told in its place.
        var isReplaced = false
    }

    /// The end may be known before the last that its node tells has come.
    private static let lastWords: Duration = .milliseconds(100)

    let service: Service
    let record: JobRecord
    /// The last event that the follower has, where that is remembered here.
    let last: String?
    /// The same, where another node may remember it.
    let told: String?
    let credentials: Credentials?

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
        var relay: Relay?
        var ended: JobRecord?
        defer {
            listening.cancel()
            ticking.cancel()
            relay?.listening.cancel()
        }
        var isQuiet = true
        var sentAt = ContinuousClock.now
        func emit(_ event: ByteBuffer) {
            isQuiet = false
            send(event)
            sentAt = .now
        }
        for await signal in signals {
            switch signal {
            case .received(let numbered):
                isQuiet = false
                guard numbered.event.generation >= record.generation else { continue }
                switch numbered.event.what {
                case .finished:
                    guard let latest = try await latest() else { return }
                    // Else it was replaced meanwhile, or deleted and submitted anew.
                    guard latest.state.isFinished else { continue }
                    guard relay?.isHeard ?? false else { return send(try await end(latest)) }
                    ended = latest
                    Task {
                        try? await Task.sleep(for: Self.lastWords)
                        feed.yield(.late)
                    }
                case .remote(let attempt):
                    if relay?.attempt == attempt { continue }
                    relay?.listening.cancel()
                    relay = Relay(attempt: attempt, told: numbered, listening: relaying(attempt, to: feed))
                default: emit(try EventText.event(numbered))
                }
            case .relayed(let heard, let attempt):
                guard var current = relay, current.attempt == attempt else { continue }
                switch heard {
                case .event(let event) where event.name == "finished":
                    if ended == nil { ended = try await latest() }
                    if let ended, ended.state.isFinished { return send(try await end(ended)) }
                    ended = nil
                case .event(let event):
                    current.isHeard = true
                    emit(EventText.event(event.name, id: event.id, data: Data(event.data.utf8)))
                case .lost:
                    if let ended { return send(try await end(ended)) }
                    if !current.isHeard, !current.isReplaced {
                        current.isReplaced = true
                        emit(try EventText.event(current.told))
                    }
                }
                relay = current
            case .late:
                if let ended { return send(try await end(ended)) }
            case .tick:
                if isQuiet {
                    guard let latest = try await latest() else { return }
                    if latest.state.isFinished { return send(try await end(latest)) }
                }
                isQuiet = true
                if ContinuousClock.now - sentAt >= service.settings.heartbeat {
                    send(EventText.comment)
                    sentAt = .now
                }
            }
        }
    }

    /// Listens to the node that is at an attempt.
    private func relaying(
        _ attempt: RemoteAttempt, to feed: AsyncStream<Signal>.Continuation
    ) -> Task<Void, Never> {
        Task { [service, record, told] in
            guard let relay = service.relay else {
                feed.yield(.relayed(.lost, attempt))
                return
            }
            let subscription = EventSubscription(
                JobName(tenant: record.tenant, job: record.id), generation: record.generation)
            for await heard in relay.follow(attempt, subscription, after: told) { feed.yield(.relayed(heard, attempt)) }
        }
    }

    /// Nil where the job was deleted meanwhile.
    private func latest() async throws -> JobRecord? {
        try await service.records.job(record.id, of: record.tenant)
    }

    private func end(_ record: JobRecord) async throws -> ByteBuffer {
        // It has the URLs of what was delivered.
        try await credentials?.check()
        return EventText.event("finished", id: EventText.endID(record), data: try await service.document(record))
    }
}
