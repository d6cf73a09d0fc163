import AsyncHTTPClient
public import Stores
public import SatchelCore
import CodecPool
import Crypto
public import FoundationEssentials
public import Ingest
import NIOCore
import NIOHTTP1
import Platform
import Synchronization

/// Makes the calls that are due: tells the senders of jobs that these have come to an end, and sends messages; each a POST
/// by the headers of Standard Webhooks.
///
/// What is due is kept by the records, so that it survives the process and is shared with others. The receiver's address
/// is guarded like a fetch's, with allowances of its own; redirects are not followed, and of an answer only the status
/// and `Retry-After` count. Its first bytes are kept for people to read.
public final class WebhookSender: Sendable {
    /// The body of a job's call, the same at each attempt; nil where the job was deleted.
    public typealias Content = @Sendable (WebhookDelivery) async throws -> Data?
    /// The secrets that a tenant's webhooks are signed with, the current one first.
    public typealias Secrets = @Sendable (TenantID) async throws -> [WebhookSecret]

    /// Calls underway at once, of all workers of a store together; each costs a connection and some kilobytes. A third is for one
    /// receiver, 128 calls: one that takes a quarter of a second still gets 500 in a second.
    private static let width = 384
    /// For a call, from the first look at its URL to the end of its answer.
    static let timeLimit: Duration = .seconds(15)
    private static let connectLimit: Duration = .seconds(5)
    /// Bytes of an answer that are read, of which few are kept.
    private static let answerLimit = 64 << 10
    /// Between two looks for calls that are due, where nothing happens here: what another process did.
    private static let interval: Duration = .seconds(1)
    /// Between two transactions: calls that end meanwhile are recorded by one, which takes as many new ones.
    private static let pace: Duration = .milliseconds(10)
    /// Between two calls on average: 280 a second for each processor, of which a call costs about a thousandth of a second, so
    /// that jobs get the larger half beside thousands that are due.
    private static let spacing: Duration = .seconds(1) / (280 * CodecPoolConfiguration.usableProcessors)
    /// The longest pause after the store failed.
    private static let longestPause: Duration = .seconds(5)

    private let records: RecordStore
    private let workers: @Sendable () -> Int
    private let client: GuardedClient
    private let schedule: WebhookSchedule
    private let timeLimit: Duration
    private let interval: Duration
    private let secrets: Secrets
    private let content: Content
    private let signal = AsyncSignal()

    /// - Parameters:
    ///   - gate: Decides who may be called.
    ///   - workers: Among whom the width is divided.
    ///   - userAgent: Such as `Satchel/1.0`.
    ///   - resolve: Stands in for the system's name service.
    public convenience init(
        records: RecordStore, among workers: @escaping @Sendable () -> Int = { 1 }, guardedBy gate: FetchGuard,
        userAgent: String, resolve: Fetcher.Resolve? = nil,
        schedule: WebhookSchedule = WebhookSchedule(), secrets: @escaping Secrets, content: @escaping Content
    ) {
        self.init(
            records: records, among: workers,
            client: GuardedClient(
                guardedBy: gate, userAgent: userAgent, resolve: resolve, keepsConnections: true), schedule: schedule,
            timeLimit: Self.timeLimit, interval: Self.interval, secrets: secrets, content: content)
    }

    init(
        records: RecordStore, among workers: @escaping @Sendable () -> Int = { 1 }, client: GuardedClient,
        schedule: WebhookSchedule, timeLimit: Duration, interval: Duration, secrets: @escaping Secrets,
        content: @escaping Content
    ) {
        self.records = records
        self.workers = workers
        self.client = client
        self.schedule = schedule
        self.timeLimit = timeLimit
        self.interval = interval
        self.secrets = secrets
        self.content = content
    }

    /// Calls what is due until the task is cancelled; a call that is underway then is handed back, to be made again.
    public func run() async {
        records.whenWebhooksCome { [signal] in signal.give() }
        let ended = Ended()
        var unrecorded: [WebhookResult] = []
        var underway: Set<String> = []
        await withDiscardingTaskGroup { group in
            var places = WebhookPlaces(Self.width)
            var failures = 0
            while !Task.isCancelled {
                let start = ContinuousClock.now
                for call in ended.take() {
                    places.end(call.result.callback.receiver, isAnswered: call.isAnswered)
                    unrecorded.append(call.result)
                }
                places.count = max(1, Self.width / workers())
                var wait = interval
                var pace = Self.pace
                do throws(AttachmentError) {
                    let batch = try await records.webhooks(after: unrecorded, within: places, besides: underway)
                    underway.subtract(unrecorded.map(\.callback.id))
                    underway.formUnion(batch.calls.map(\.id))
                    unrecorded = []
                    failures = 0
                    places.turn = batch.turn
                    pace = max(pace, Self.spacing * batch.calls.count)
                    for callback in batch.calls {
                        places.begin(callback.receiver)
                        group.addTask {
                            ended.add(await self.deliver(callback))
                            self.signal.give()
                        }
                    }
                    if let next = batch.next { wait = min(wait, next) }
                } catch {
                    // It is the workers' to report. What became of the calls is recorded when it works again.
                    failures += 1
                    try? await Task.sleep(for: min(.milliseconds(100) * (1 << min(failures, 10)), Self.longestPause))
                    continue
                }
                await self.wait(atMost: wait)
                try? await Task.sleep(until: start + pace)
            }
        }
        await settle(unrecorded + ended.take().map(\.result))
        await client.end()
    }

    /// Waits until a webhook becomes due here or a call comes to its end.
    private func wait(atMost time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.signal.wait() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Records what became of the last calls.
    private func settle(_ results: [WebhookResult]) async {
        guard !results.isEmpty else { return }
        // In a task of its own, for this one is cancelled. If the store doesn't take it, the calls are due again once this node
        // is gone.
        await Task { _ = try? await records.webhooks(after: results, within: WebhookPlaces(0), besides: nil) }.value
    }

    /// Calls that came to their end, to be recorded together.
    private final class Ended: Sendable {
        struct Call: Sendable {
            var result: WebhookResult
            /// False where it was waited for the receiver in vain.
            var isAnswered: Bool
        }

        private let calls = Mutex<[Call]>([])

        func add(_ call: Call) {
            calls.withLock { $0.append(call) }
        }

        func take() -> [Call] {
            calls.withLock { calls in
                defer { calls = [] }
                return calls
            }
        }
    }

    private final class PartialAnswer: Sendable {
        let answer = Mutex<Answer?>(nil)
    }

    // MARK: One call

    private func deliver(_ callback: WebhookDelivery) async -> Ended.Call {
        let (start, at) = (ContinuousClock.now, records.time)
        let called = await call(callback)
        if Task.isCancelled, called.outcome != .delivered {
            // An interrupted attempt does not count.
            var callback = callback
            callback.attempt -= 1
            let again = WebhookOutcome.again(after: .zero, reason: "the service stopped")
            return Ended.Call(result: WebhookResult(again, of: callback), isAnswered: true)
        }
        let result =
            switch called.outcome {
            case .delivered: "delivered"
            case .again: "again"
            case .failed, .gone: "failed"
            }
        JobMetrics.count("calls_total", [("type", callback.type.rawValue), ("result", result)])
        let answer = CallAnswer(
            attempt: callback.attempt, at: at, seconds: (ContinuousClock.now - start).inSeconds,
            status: called.answer?.status, reason: called.outcome.reason, body: called.answer?.text)
        return Ended.Call(
            result: WebhookResult(called.outcome, of: callback, called.isTried ? answer : nil),
            isAnswered: called.isAnswered)
    }

    /// What the receiver said.
    private struct Answer: Sendable {
        var status: Int
        var retryAfter: Duration?
        /// The first bytes of its body.
        var start: [UInt8] = []

        /// What people may read of it; nil where there is nothing.
        var text: String? {
            let text = AccessToken.shortened(in: String(decoding: start, as: UTF8.self))
                .sanitized(CallAnswer.bodyBytes)
            return text.isEmpty ? nil : text
        }
    }

    /// What came of a call.
    private struct Called {
        var outcome: WebhookOutcome
        var answer: Answer?
        /// Whether the receiver was turned to at all.
        var isTried = true
        /// False where it was waited for the receiver in vain.
        var isAnswered = true
    }

    private func call(_ callback: WebhookDelivery) async -> Called {
        if let end = callback.giveUpAt, end < records.time {
            return Called(
                outcome: .failed(reason: "given up: the call expired before it could be made"), isTried: false)
        }
        let start = ContinuousClock.now
        do {
            guard let body = try await body(of: callback) else {
                return Called(outcome: .failed(reason: "the job was deleted"), isTried: false)
            }
            var headers = try Self.headers(
                id: callback.id, timestamp: records.time, body: body, secrets: try await secrets(callback.tenant))
            if let traceparent = callback.traceparent { headers.append(("traceparent", traceparent)) }
            let answer = try await post(body, headers, to: try FetchURL(callback.url))
            let outcome: WebhookOutcome =
                switch answer.status {
                case 200..<300: .delivered
                case 410: .gone
                case 300..<400:
                    again(callback, "the receiver answered \(answer.status): redirects are not followed", answer)
                default: again(callback, "the receiver answered \(answer.status)", answer)
                }
            return Called(outcome: outcome, answer: answer)
        } catch {
            let error = FetchFailure.describe(error, after: .now - start)
            let reason = WebhookFailure.reason(error)
            switch error.code {
            case .invalidSource, .blockedAddress: return Called(outcome: .failed(reason: reason))
            default: return Called(outcome: again(callback, reason, nil), isAnswered: false)
            }
        }
    }

    /// Nil where it tells of a job that was deleted.
    private func body(of callback: WebhookDelivery) async throws -> Data? {
        switch callback.content {
        case .job: try await content(callback)
        case .message(let template): try await records.text(of: template, of: callback.tenant)
        }
    }

    private func again(_ callback: WebhookDelivery, _ reason: String, _ answer: Answer?) -> WebhookOutcome {
        var random = SystemRandomNumberGenerator.addressable
        let wait = schedule.ending(at: callback.giveUpAt, since: callback.createdAt).wait(
            after: callback.attempt, age: records.time - callback.createdAt, retryAfter: answer?.retryAfter,
            using: &random)
        guard let wait else { return .failed(reason: "given up after \(callback.attempt) attempts: \(reason)") }
        return .again(after: wait, reason: reason)
    }

    /// The headers of Standard Webhooks, with a signature by each secret.
    static func headers(
        id: String, timestamp: Instant, body: Data, secrets: [WebhookSecret]
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
        let partial = PartialAnswer()
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                try await self.client.send(
                    to: url, connect: Self.connectLimit, time: self.timeLimit
                ) { request in
                    request.method = .POST
                    for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
                    request.body = .bytes(ByteBuffer(bytes: body))
                } read: { response in
                    var answer = Answer(
                        status: Int(response.status.code), retryAfter: Self.retryAfter(response.headers))
                    partial.answer.withLock { [answer] in $0 = answer }
                    var bytes = 0
                    for try await piece in response.body {
                        bytes += piece.readableBytes
                        if answer.start.count < CallAnswer.bodyBytes {
                            answer.start += piece.readableBytesView.prefix(CallAnswer.bodyBytes - answer.start.count)
                            partial.answer.withLock { [answer] in $0 = answer }
                        }
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
                if let answer = partial.answer.withLock({ $0 }) { return answer }
                throw error
            }
            if let answer = partial.answer.withLock({ $0 }) { return answer }
            throw AttachmentError.fetchTimeout(seconds: timeLimit.inSeconds)
        }
    }

    /// Where it is given in seconds; a date is left to the schedule.
    private static func retryAfter(_ headers: HTTPHeaders) -> Duration? {
        headers.first(name: "Retry-After").flatMap { UInt32($0) }.map { .seconds($0) }
    }
}
