import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@testable import SatchelClient

/// Takes responses as a service would: each attempt is answered with the next of what was given, the last again and again.
final class ResponseOrigin: Sendable {
    enum Step: Sendable {
        case answer(String, after: Duration = .zero)
        case problem(Int, code: String, retryAfter: Int? = nil)
        /// What a proxy says whose service is away.
        case proxy(Int)
        /// The connection ends without an answer.
        case drop
        case silence
    }

    private struct Dropped: Error {}

    private let origin: LocalOrigin
    let url: URL

    init(_ steps: Step...) async throws {
        let attempts = Locked(0)
        origin = try await LocalOrigin { _ in
            let attempt = attempts.withLock { count in
                defer { count += 1 }
                return count
            }
            return try Self.carryOut(steps[min(attempt, steps.count - 1)])
        }
        url = try #require(URL(string: origin.url("/r/satr_ticket")))
    }

    private static func carryOut(_ step: Step) throws -> LocalOrigin.Answer {
        switch step {
        case .answer(let json, let delay): return LocalOrigin.Answer(body: Data(json.utf8), delay: delay)
        case .problem(let status, let code, let retryAfter):
            let problem = """
                {"type": "about:blank", "title": "t", "status": \(status), "code": "\(code)", "detail": "What to do.",
                 "errors": []}
                """
            let headers = retryAfter.map { ["Retry-After": "\($0)"] } ?? [:]
            return LocalOrigin.Answer(status: status, headers: headers, body: Data(problem.utf8))
        case .proxy(let status): return LocalOrigin.Answer(status: status, body: Data("<html>Bad Gateway</html>".utf8))
        case .drop: throw Dropped()
        case .silence: return LocalOrigin.Answer(delay: .seconds(3600))
        }
    }

    var requests: [LocalOrigin.Request] { origin.requests }

    /// The bodies of all attempts.
    func bodies() throws -> [NSDictionary] {
        try requests.map { try #require(JSONSerialization.jsonObject(with: $0.body) as? NSDictionary) }
    }
}
