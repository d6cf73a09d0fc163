import HTTPTypes
import NIOHTTP1

/// What is wrong with a request's head before anybody looks at what it asks: whatever two readers could understand
/// differently (RFC 9112, section 11.2) is refused.
enum RequestFraming {
    static func refusal(of head: HTTPRequestHead) -> Problem? {
        var hosts = 0
        var lengths = 0
        var codings = 0
        for (name, value) in head.headers {
            // Most names are told apart by their length alone.
            switch name.utf8.count {
            case 4 where name.lowercased() == "host": hosts += 1
            case 14 where name.lowercased() == "content-length":
                lengths += 1
                guard !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }), Int64(value) != nil else {
                    return .malformed("'Content-Length' must be one number of bytes.")
                }
            case 17 where name.lowercased() == "transfer-encoding":
                codings += 1
                guard value.lowercased() == "chunked" else {
                    return Problem(
                        .notImplemented, "unknown_transfer_encoding", "The only transfer encoding taken is 'chunked'.")
                }
            default: break
            }
        }
        if lengths > 1 || codings > 1 || lengths + codings > 1 {
            return .malformed("A body's length must be said once, by 'Content-Length' or by 'Transfer-Encoding'.")
        }
        if codings > 0, head.version != .http1_1 {
            return .malformed("'Transfer-Encoding' needs HTTP/1.1.")
        }
        if hosts > 1 || hosts == 0 && head.version == .http1_1 {
            return .malformed("There must be one 'Host' header.")
        }
        if head.method == .CONNECT {
            return Problem(.notImplemented, "no_proxy", "This is no proxy.")
        }
        return nil
    }

    /// The path and the query of a request's target, which a server has to take in absolute form as well (RFC 9112,
    /// section 3.2.2).
    static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/") else { return target }
        let scheme = ["http://", "https://"].first { target.prefix($0.count).lowercased() == $0 }
        guard let scheme else { return target }
        let rest = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
        return rest.first == "/" ? String(rest) : "/" + rest
    }

    /// What `Expect` asks for.
    enum Expectation: Hashable {
        case none
        case `continue`
        case unknown
    }

    static func expectation(of head: HTTPRequestHead) -> Expectation {
        guard head.version == .http1_1, let value = head.headers.first(name: "expect") else { return .none }
        return value.lowercased() == "100-continue" ? .continue : .unknown
    }

    /// Bytes of the body; nil where that isn't said.
    static func length(of head: HTTPRequestHead) -> Int64? {
        if head.headers.contains(name: "transfer-encoding") { return nil }
        return head.headers.first(name: "content-length").map { Int64($0) ?? .max } ?? 0
    }
}
