import Foundation

/// One request, before it is sent.
struct Call: Sendable {
    enum Body: Sendable {
        case none
        case bytes(Data, type: String)
        /// Streamed from the disk.
        case file(URL, type: String)
    }

    var method: String
    /// Its segments, not yet percent-encoded.
    var path: [String]
    var query: [URLQueryItem] = []
    var headers: [String: String] = [:]
    var body = Body.none
    /// Seconds without a byte, after which the connection is given up.
    var patience: TimeInterval = 60
    /// Whether the call may arrive twice: then a connection that failed is no reason to give up.
    var isRepeatable: Bool

    init(_ method: String, _ path: String..., isRepeatable: Bool? = nil) {
        self.method = method
        self.path = path
        self.isRepeatable = isRepeatable ?? (method != "POST")
    }

    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        query.append(URLQueryItem(name: name, value: value))
    }

    /// With a JSON body.
    func sending(_ value: some Encodable) throws -> Call {
        var call = self
        call.body = .bytes(try Wire.encode(value), type: "application/json")
        return call
    }
}

/// What came back.
struct Answer: Sendable {
    var status: Int
    var body: Data
    private var headers: [String: String]

    init(status: Int, body: Data, headers: [String: String]) {
        self.status = status
        self.body = body
        self.headers = headers
    }

    func header(_ name: String) -> String? {
        headers[name.lowercased()]
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws(SatchelError) -> Value {
        do {
            return try Wire.decode(type, from: body)
        } catch {
            throw SatchelError(
                code: .unreadable, detail: "The service's answer can't be read: \(error)", status: status,
                underlying: error)
        }
    }
}
