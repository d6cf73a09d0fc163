import AsyncHTTPClient
public import SatchelCore
public import FoundationEssentials
public import Ingest
import NIOCore
import NIOHTTP1
import Platform

/// Asks handlers what becomes of responses: a POST by the headers of Standard Webhooks, whose answer counts.
///
/// The handler's address is guarded as a webhook's is, redirects are not followed, and whoever waits for the answer has it
/// within the handler's time, or the reason why there is none.
public struct HandlerClient: Sendable {
    /// Bytes of an answer; a longer one is none.
    public static let answerLimit = 64 << 10
    private static let connectLimit: Duration = .seconds(2)

    private let client: GuardedClient
    private let clock: @Sendable () -> Instant

    /// - Parameters:
    ///   - clock: The store's time.
    ///   - gate: Decides who may be called.
    ///   - userAgent: Such as `Satchel/1.0`.
    ///   - resolve: Stands in for the system's name service.
    public init(
        clock: @escaping @Sendable () -> Instant, guardedBy gate: FetchGuard, userAgent: String,
        resolve: Fetcher.Resolve? = nil
    ) {
        self.clock = clock
        client = GuardedClient(guardedBy: gate, userAgent: userAgent, resolve: resolve, keepsConnections: true)
    }

    /// Closes what is kept. No call may be underway.
    public func end() async {
        await client.end()
    }

    /// Asks a handler.
    ///
    /// - Parameters:
    ///   - id: The response's, by which a handler knows one that it has answered.
    ///   - secrets: What the call is signed with, the current one first; none: it is not signed.
    /// - Returns: The body of an answer of status 2xx; else why there is none, as a clause.
    public func answer(
        of handler: ResponseHandler, to body: Data, id: String, secrets: [WebhookSecret]
    ) async -> Result<Data, HandlerFailure> {
        let start = ContinuousClock.now
        do {
            var headers = try WebhookSender.headers(
                id: id, timestamp: clock(), body: body, secrets: secrets)
            if secrets.isEmpty { headers.removeAll { $0.name == "webhook-signature" } }
            return .success(try await post(body, headers, to: handler))
        } catch let failure as HandlerFailure {
            return .failure(failure)
        } catch {
            let error = FetchFailure.describe(error, after: .now - start)
            return .failure(HandlerFailure(WebhookFailure.reason(error)))
        }
    }

    private func post(
        _ body: Data, _ headers: [(name: String, value: String)], to handler: ResponseHandler
    ) async throws -> Data {
        let url = try FetchURL(handler.url)
        let time = Duration.seconds(fraction: handler.timeout)
        return try await withThrowingTaskGroup(of: Data.self) { group in
            group.addTask {
                try await self.client.send(to: url, connect: min(Self.connectLimit, time), time: time) { request in
                    request.method = .POST
                    for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
                    request.body = .bytes(ByteBuffer(bytes: body))
                } read: { response in
                    try await Self.read(response)
                }
            }
            group.addTask {
                try await Task.sleep(for: time)
                throw AttachmentError.fetchTimeout(seconds: handler.timeout)
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    private static func read(_ response: HTTPClientResponse) async throws -> Data {
        let status = Int(response.status.code)
        guard !(300..<400).contains(status) else {
            throw HandlerFailure("the handler answered \(status): redirects are not followed")
        }
        guard (200..<300).contains(status) else { throw HandlerFailure("the handler answered \(status)") }
        var body = Data()
        for try await piece in response.body {
            guard body.count + piece.readableBytes <= answerLimit else {
                throw HandlerFailure("the answer has more than \(answerLimit) bytes")
            }
            body += piece.readableBytesView
        }
        return body
    }
}

/// Why a handler didn't decide, as a record shows it: a clause.
public struct HandlerFailure: Error, Hashable, Sendable {
    public var reason: String

    public init(_ reason: String) {
        self.reason = reason
    }
}
