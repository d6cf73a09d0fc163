public import Attachments
import AsyncHTTPClient
import Crypto
public import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// Tells the senders of jobs that these have come to an end: a POST of the job by the headers of Standard Webhooks.
///
/// What is due is kept by the records, so that it survives the process and is shared with others. The receiver's address
/// is guarded like a fetch's, with allowances of its own; redirects are not followed, and of an answer only the status
/// and `Retry-After` count.
public final class CallbackSender: Sendable {
    /// The finished job as the receiver gets it; nil where it was deleted.
    public typealias Content = @Sendable (TenantID, JobID) async throws -> Data?
    /// The secrets that a tenant's callbacks are signed with, the current one first.
    public typealias Secrets = @Sendable (TenantID) throws -> [CallbackSecret]

    /// Calls underway at once; each costs a connection and some kilobytes.
    private static let width = 256
    /// Calls of one tenant underway, from which no more are begun, and that are begun at once: receivers that don't
    /// answer hold up nobody else's.
    private static let share = 32
    /// For a call, from the first look at its URL to the end of its answer.
    static let timeLimit: Duration = .seconds(15)
    private static let connectLimit: Duration = .seconds(5)
    /// Bytes of an answer that are read, and thrown away.
    private static let answerLimit = 64 << 10
    /// Nobody else takes a call that is underway.
    private static let reservation: Duration = .seconds(60)
    /// Between two looks for calls that are due.
    private static let interval: Duration = .seconds(1)

    private let records: any ServiceRecords
    private let client: GuardedClient
    private let schedule: CallbackSchedule
    private let timeLimit: Duration
    private let interval: Duration
    private let secrets: Secrets
    private let content: Content
    private let supply = JobSupply()

    /// - Parameters:
    ///   - gate: Decides who may be called.
    ///   - userAgent: Such as `Satchel/1.0`.
    ///   - resolve: Stands in for the system's name service.
    public convenience init(
        records: any ServiceRecords, guardedBy gate: FetchGuard, userAgent: String, resolve: Fetcher.Resolve? = nil,
        schedule: CallbackSchedule = CallbackSchedule(), secrets: @escaping Secrets, content: @escaping Content
    ) {
        self.init(
            records: records,
            client: GuardedClient(guardedBy: gate, userAgent: userAgent, resolve: resolve), schedule: schedule,
            timeLimit: Self.timeLimit, interval: Self.interval, secrets: secrets, content: content)
    }

    init(
        records: any ServiceRecords, client: GuardedClient, schedule: CallbackSchedule, timeLimit: Duration,
        interval: Duration, secrets: @escaping Secrets, content: @escaping Content
    ) {
        self.records = records
        self.client = client
        self.schedule = schedule
        self.timeLimit = timeLimit
        self.interval = interval
        self.secrets = secrets
        self.content = content
    }

    /// A job came to its end, or a callback is to be replayed: looks for it at once.
    public func added() {
        supply.added()
    }

    /// Calls what is due until the task is cancelled; a call that is underway then is handed back, to be made again.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: self.interval)
                    self.supply.added()
                }
            }
            let underway = Tally()
            while !Task.isCancelled {
                let room = min(Self.width - underway.total, Self.share)
                // A failing store is asked again at the next look; it is the workers' to report.
                let due =
                    room > 0
                    ? (try? await records.dueCallbacks(
                        room, for: Self.reservation, except: underway.tenants(from: Self.share))) ?? [] : []
                for callback in due {
                    underway.add(callback.tenant)
                    group.addTask {
                        await self.deliver(callback)
                        underway.remove(callback.tenant)
                        self.supply.added()
                    }
                }
                if due.isEmpty { await supply.wait() }
            }
        }
    }

    /// The calls underway, by tenant.
    private final class Tally: Sendable {
        private let counts = Mutex<[TenantID: Int]>([:])

        var total: Int { counts.withLock { $0.values.reduce(0, +) } }

        func tenants(from count: Int) -> Set<TenantID> {
            counts.withLock { counts in Set(counts.filter { $0.value >= count }.keys) }
        }

        func add(_ tenant: TenantID) {
            counts.withLock { $0[tenant, default: 0] += 1 }
        }

        func remove(_ tenant: TenantID) {
            counts.withLock { counts in
                counts[tenant, default: 1] -= 1
                if counts[tenant] == 0 { counts[tenant] = nil }
            }
        }
    }

    private final class Heard: Sendable {
        let answer = Mutex<Answer?>(nil)
    }

    // MARK: One call

    private func deliver(_ callback: CallbackDelivery) async {
        let outcome = await call(callback)
        if Task.isCancelled, outcome != .delivered {
            // In a task of its own, for the store refuses the writes of a cancelled one.
            await Task { try? await records.record(.again(after: .zero, reason: "the service ended"), of: callback) }
                .value
            return
        }
        let result =
            switch outcome {
            case .delivered: "delivered"
            case .again: "again"
            case .failed: "failed"
            }
        Meters.count("callbacks_total", [("result", result)])
        // Where the store doesn't take it, the reservation runs out and it is called again: at least once.
        await Task { try? await records.record(outcome, of: callback) }.value
    }

    /// What the receiver said.
    private struct Answer: Sendable {
        var status: Int
        var retryAfter: Duration?
    }

    private func call(_ callback: CallbackDelivery) async -> CallbackOutcome {
        do {
            guard let body = try await content(callback.tenant, callback.job) else {
                return .failed(reason: "the job was deleted")
            }
            var headers = try Self.headers(
                id: callback.id, timestamp: Instant.wallClock(), body: body, secrets: try secrets(callback.tenant))
            if let traceparent = callback.traceparent { headers.append(("traceparent", traceparent)) }
            let answer = try await post(body, headers, to: try FetchURL(callback.url))
            switch answer.status {
            case 200..<300: return .delivered
            case 410: return .failed(reason: "the receiver wants no more of them (410)")
            case 300..<400: return again(callback, "it redirects, which is not followed (\(answer.status))", answer)
            default: return again(callback, "it answered \(answer.status)", answer)
            }
        } catch {
            let error = FetchFailure.describe(error)
            let reason = CallbackFailure.reason(error)
            switch error.code {
            case .invalidSource, .blockedAddress: return .failed(reason: reason)
            default: return again(callback, reason, nil)
            }
        }
    }

    private func again(_ callback: CallbackDelivery, _ reason: String, _ answer: Answer?) -> CallbackOutcome {
        var random = SystemRandomNumberGenerator()
        let wait = schedule.wait(
            after: callback.attempt, age: Instant.wallClock() - callback.createdAt, retryAfter: answer?.retryAfter,
            using: &random)
        guard let wait else { return .failed(reason: "given up after \(callback.attempt) attempts: \(reason)") }
        return .again(after: wait, reason: reason)
    }

    /// The headers of Standard Webhooks, with a signature by each secret.
    static func headers(
        id: String, timestamp: Instant, body: Data, secrets: [CallbackSecret]
    ) throws -> [(name: String, value: String)] {
        let seconds = timestamp.milliseconds / 1000
        let signed = Data("\(id).\(seconds).".utf8) + body
        let signatures = secrets.map { secret in
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: secret.bytes))
            return "v1," + Data(code).base64EncodedString()
        }
        return [
            ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }

    private func post(
        _ body: Data, _ headers: [(name: String, value: String)], to url: FetchURL
    ) async throws -> Answer {
        // What it answered counts, even where the rest of the answer doesn't end in time.
        let heard = Heard()
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                try await self.client.send(
                    to: url, connect: Self.connectLimit, time: self.timeLimit
                ) { request in
                    request.method = .POST
                    for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
                    request.body = .bytes(ByteBuffer(bytes: body))
                } read: { response in
                    let answer = Answer(
                        status: Int(response.status.code), retryAfter: Self.retryAfter(response.headers))
                    heard.answer.withLock { $0 = answer }
                    var bytes = 0
                    for try await piece in response.body {
                        bytes += piece.readableBytes
                        if bytes > Self.answerLimit { break }
                    }
                    return answer
                }
            }
            group.addTask {
                try await Task.sleep(for: self.timeLimit)
                return nil
            }
            defer { group.cancelAll() }
            do {
                if let answer = try await group.next() ?? nil { return answer }
            } catch {
                if let answer = heard.answer.withLock({ $0 }) { return answer }
                throw error
            }
            if let answer = heard.answer.withLock({ $0 }) { return answer }
            throw AttachmentError.fetchTimeout(seconds: timeLimit.inSeconds)
        }
    }

    /// Where it is given in seconds; a date is left to the schedule.
    private static func retryAfter(_ headers: HTTPHeaders) -> Duration? {
        headers.first(name: "Retry-After").flatMap { UInt32($0) }.map { .seconds($0) }
    }
}
