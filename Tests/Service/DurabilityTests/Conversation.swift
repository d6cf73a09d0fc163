import Foundation
import ServiceTestSupport
import Testing

/// What one client of a recorded service asks, one request after the other, and what it may rely on from each answer on.
///
/// The n-th answer of the service, of those that say yes, is thus the one to its n-th request.
final class Conversation: ServiceRequests {
    let service: ServiceProcess
    private var answers = 0
    /// The number of the answer with which each was said.
    private var promised: [(content: Guarantee.Content, answer: Int)] = []
    /// And of the last answer before the request that takes it back.
    private var takenBack: [(content: Guarantee.Content, answer: Int)] = []

    var url: URL { service.url }
    let key: String?

    init(with service: ServiceProcess, key: String? = nil) {
        self.service = service
        self.key = key ?? service.key
    }

    /// Asks for something that is granted.
    @discardableResult
    func ask(
        _ method: String, _ path: String, _ headers: [String: String] = [:], json: [String: Any]? = nil,
        body: Data? = nil
    ) async throws -> ServiceAnswer {
        var headers = headers
        var body = body
        if let json {
            headers["Content-Type"] = "application/json"
            body = try JSONSerialization.data(withJSONObject: json)
        }
        let answer = try await send(method, path, headers, body: body)
        try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.status) \(answer.text)")
        answers += 1
        return answer
    }

    /// The path of a URL that the service gave out.
    static func path(of url: Any?) throws -> String {
        let text = try #require(url as? String)
        return try #require(URL(string: text)).path()
    }

    /// Says what the last answer means.
    func relies(on contents: Guarantee.Content...) {
        promised += contents.map { ($0, answers - 1) }
    }

    /// Says that the next request takes something back.
    func gives(up contents: Guarantee.Content...) {
        takenBack += contents.map { ($0, answers - 1) }
    }

    /// - Parameter calls: Those with which the answers that say yes went out.
    func guarantees(saidBy calls: [Int], until end: Int) throws -> [Guarantee] {
        try #require(calls.count == answers, "\(calls.count) answers for \(answers) requests")
        return promised.map { content, answer in
            let limit = takenBack.first { $0.content == content && $0.answer >= answer }
            return Guarantee(content: content, calls: calls[answer]..<(limit.map { calls[$0.answer] } ?? end))
        }
    }
}
