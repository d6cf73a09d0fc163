import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends calls, again where that helps and does no harm.
final class Transport: Sendable {
    private let base: URL
    private let bearer: String
    let retries: RetryPolicy
    private let session: URLSession
    /// For streams, which need a session with a delegate each.
    private let configuration: URLSessionConfiguration

    init(base: URL, bearer: String, retries: RetryPolicy, configuration: URLSessionConfiguration) {
        self.base = base
        self.bearer = bearer
        self.retries = retries
        self.configuration = configuration
        session = URLSession(configuration: configuration)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    func request(_ call: Call) throws(SatchelError) -> URLRequest {
        var unreserved = CharacterSet.alphanumerics
        unreserved.insert(charactersIn: "-._~")
        let path = call.path.map { $0.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "" }
        var components = URLComponents(url: base, resolvingAgainstBaseURL: false)
        let prefix = (components?.percentEncodedPath ?? "").split(separator: "/").map(String.init)
        components?.percentEncodedPath = "/" + (prefix + path).joined(separator: "/")
        if !call.query.isEmpty {
            // A plus sign means a space to many servers.
            components?.queryItems = call.query
            let query = components?.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
            components?.percentEncodedQuery = query
        }
        guard let url = components?.url, !path.contains("") else {
            throw SatchelError(code: .invalidRequest, detail: "An id is empty, or the service's URL is none.")
        }
        var request = URLRequest(url: url, timeoutInterval: call.patience)
        request.httpMethod = call.method
        for (name, value) in call.headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization")
        switch call.body {
        case .none: break
        case .bytes(let data, let type):
            request.httpBody = data
            request.setValue(type, forHTTPHeaderField: "Content-Type")
        case .file(_, let type): request.setValue(type, forHTTPHeaderField: "Content-Type")
        }
        return request
    }

    /// - Throws: A ``SatchelError`` for every answer that isn't 2xx.
    func send(_ call: Call) async throws -> Answer {
        let request = try request(call)
        var waited: TimeInterval = 0
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try await session.answer(to: request, with: call.body)
            } catch let error as SatchelError {
                let isTransient =
                    error.status.map { $0 == 429 || $0 == 503 } ?? (call.isRepeatable && error.code == .transport)
                let pause = retries.pause(after: attempt, retryAfter: error.retryAfter)
                guard isTransient, attempt < retries.attempts, waited + pause <= retries.longestWait else {
                    throw error
                }
                try await Task.sleep(nanoseconds: UInt64(pause * 1e9))
                waited += pause
            }
        }
    }

    /// An answer as it arrives; once.
    func stream(_ call: Call) -> AsyncThrowingStream<ByteStream.Piece, any Error> {
        do {
            return ByteStream.open(try request(call), configuration)
        } catch {
            return AsyncThrowingStream { $0.finish(throwing: error) }
        }
    }
}

extension URLSession {
    /// Sends a request once.
    ///
    /// - Throws: A ``SatchelError`` where no answer came, and for every answer that isn't 2xx.
    func answer(to request: URLRequest, with body: Call.Body) async throws -> Answer {
        let (bytes, response): (Data, URLResponse)
        do {
            switch body {
            case .none, .bytes: (bytes, response) = try await data(for: request)
            case .file(let file, _): (bytes, response) = try await upload(for: request, fromFile: file)
            }
        } catch {
            try Task.checkCancellation()
            throw SatchelError.transport(error)
        }
        let answer = try Answer(response, bytes)
        guard (200..<300).contains(answer.status) else { throw answer.error }
        return answer
    }
}

extension Answer {
    init(_ response: URLResponse, _ body: Data) throws(SatchelError) {
        guard let response = response as? HTTPURLResponse else {
            throw SatchelError(code: .unreadable, detail: "The service's URL is not HTTP.")
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            headers["\(name)".lowercased()] = "\(value)"
        }
        self.init(status: response.statusCode, body: body, headers: headers)
    }

    var error: SatchelError {
        SatchelError(
            status: status, body: body, retryAfter: header("Retry-After").flatMap(TimeInterval.init).map { max(0, $0) })
    }
}
