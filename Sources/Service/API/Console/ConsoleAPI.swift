import SatchelCore
import HTTPTypes
import Hummingbird
import NIOCore
import Payloads
import Synchronization

/// The API for whoever is signed in, without the way over HTTP: a page shows and does what `/v1` answers, and nothing else.
struct ConsoleAPI: Sendable {
    private let answers: EndpointAnswers
    private let context: ServiceContext
    private let roles: [AccessRole]

    /// What came back.
    struct Reply: Sendable {
        var status: Int
        var headers: HTTPFields
        var bytes: [UInt8]

        /// Null where there is no JSON.
        var json: JSONValue { (try? JSONDocument.read(bytes, .passedOn).root) ?? .null }
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    init(_ answers: EndpointAnswers, _ session: ConsoleSession, _ context: ServiceContext) {
        self.answers = answers
        roles = session.roles
        var context = context
        context.identity = .key(
            APIKeyRecord(
                id: session.key ?? "", tenant: session.tenant, name: "console", roles: session.roles,
                createdAt: session.createdAt, expiresAt: session.endsAt, revokedAt: nil))
        if session.key == nil { context.auditor = AuditActor(.command) }
        self.context = context
    }

    /// Who does what is done here, as the audit list names them.
    var actor: AuditActor { context.actor }

    /// Whether the session may do that.
    func may(_ endpoint: Endpoint) -> Bool { roles.contains(where: endpoint.permits) }

    /// - Parameters:
    ///   - parameters: Of the path, by their names.
    ///   - query: What has no value is left out.
    ///   - body: JSON, or of the type that `headers` have.
    /// - Throws: ``Problem`` as the API answers it.
    func send(
        _ endpoint: Endpoint, _ parameters: [String: String] = [:], query: [(String, String?)] = [],
        headers: HTTPFields = [:], body: [UInt8]? = nil
    ) async throws -> Reply {
        let response = try await response(endpoint, parameters, query: query, headers: headers, body: body)
        do {
            return Reply(
                status: response.status.code, headers: response.headers, bytes: try await response.body.collected())
        } catch {
            throw Problem(describing: error)
        }
    }

    /// The same with these fields as the body.
    func send(_ endpoint: Endpoint, fields: JSONFields) async throws -> Reply {
        try await send(endpoint, body: Array(try JSON.encode(fields)))
    }

    /// The same with the body as it comes.
    func response(
        _ endpoint: Endpoint, _ parameters: [String: String] = [:], query: [(String, String?)] = [],
        headers: HTTPFields = [:], body: [UInt8]? = nil
    ) async throws -> Response {
        guard may(endpoint) else {
            if case .key(let roles) = endpoint.access { throw Problem.forbidden(roles) }
            if case .keyOrGrant(let roles) = endpoint.access { throw Problem.forbidden(roles) }
            throw Problem.notFound
        }
        var headers = headers
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        let head = HTTPRequest(
            method: endpoint.method, scheme: nil, authority: nil, path: endpoint.path + Self.query(query),
            headerFields: headers)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body ?? [])))
        var context = context
        context.pathParameters = parameters
        do {
            return try await answers.answer(endpoint, request, context)
        } catch {
            throw Problem(describing: error)
        }
    }

    func get(
        _ endpoint: Endpoint, _ parameters: [String: String] = [:], query: [(String, String?)] = []
    ) async throws -> JSONValue {
        try await send(endpoint, parameters, query: query).json
    }

    /// `?a=b&c=d`, or nothing.
    static func query(_ parameters: [(String, String?)]) -> String {
        let pairs = parameters.compactMap { name, value in
            value.map { "\(encoded(name))=\(encoded($0))" }
        }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    /// Percent-encoded, but for what is unreserved (RFC 3986).
    static func encoded(_ text: String) -> String { PercentCoding.encode(text) }
}

extension ResponseBody {
    /// All of it, in memory.
    fileprivate func collected() async throws -> [UInt8] {
        let collector = BodyCollector()
        try await write(collector)
        return collector.bytes
    }
}

private final class BodyCollector: ResponseBodyWriter, Sendable {
    private let buffer = Mutex(ByteBuffer())

    var bytes: [UInt8] { buffer.withLock { Array($0.readableBytesView) } }

    func write(_ piece: ByteBuffer) async throws {
        buffer.withLock { buffer in
            var piece = piece
            buffer.writeBuffer(&piece)
        }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
