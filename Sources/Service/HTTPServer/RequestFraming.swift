import NIOHTTP1

/// What a request's head says of the connection and of the body behind it, before anybody looks at what it asks. Whatever
/// two readers could understand differently (RFC 9112, section 11.2) is a fault.
struct RequestFraming: Hashable {
    private(set) var fault: RequestFault?
    /// Bytes of the body; nil where that isn't said.
    private(set) var length: Int64? = 0
    /// Whether the client sends its body only when it is told that somebody wants it.
    private(set) var awaitsContinue = false
    private(set) var wantsUpgrade = false
    /// The path and the query of a target in absolute form, which a server has to take as well (RFC 9112, section 3.2.2);
    /// nil where it is as it should be.
    let originForm: String?

    init(_ head: HTTPRequestHead) {
        originForm = Self.originForm(of: head.uri)
        var hosts = 0
        var lengths = 0
        var codings = 0
        var expectation: String?
        for (name, value) in head.headers {
            // Most names are told apart by their length alone.
            switch name.utf8.count {
            case 4 where name.lowercased() == "host": hosts += 1
            case 6 where expectation == nil && name.lowercased() == "expect": expectation = value
            case 7 where name.lowercased() == "upgrade": wantsUpgrade = true
            case 14 where name.lowercased() == "content-length":
                lengths += 1
                length = value.utf8.allSatisfy { (48...57).contains($0) } ? Int64(value) : nil
                if length == nil { fault = fault ?? .invalidLength }
            case 17 where name.lowercased() == "transfer-encoding":
                codings += 1
                if value.lowercased() != "chunked" { fault = fault ?? .unknownTransferEncoding }
            default: break
            }
        }
        if codings > 0 { length = nil }
        let isHTTP1_1 = head.version == .http1_1
        fault =
            switch fault {
            case let fault?: fault
            case nil where lengths + codings > 1: .ambiguousLength
            case nil where codings > 0 && !isHTTP1_1: .unexpectedTransferEncoding
            case nil where hosts > 1 || hosts == 0 && isHTTP1_1: .invalidHost
            case nil where head.method == .CONNECT: .proxyRequest
            case nil where isHTTP1_1 && expectation.map { $0.lowercased() != "100-continue" } == true:
                .unknownExpectation
            case nil: nil
            }
        awaitsContinue = fault == nil && isHTTP1_1 && expectation != nil && length != 0
    }

    private static func originForm(of target: String) -> String? {
        guard target.utf8.first != UInt8(ascii: "/") else { return nil }
        let scheme = ["http://", "https://"].first { target.prefix($0.count).lowercased() == $0 }
        guard let scheme else { return nil }
        let rest = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
        return rest.first == "/" ? String(rest) : "/" + rest
    }
}
