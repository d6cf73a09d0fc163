public import SatchelCore
import NIOHTTP1

/// A submission's request headers, checked.
public struct FetchHeaders: Sendable {
    /// Headers that are the fetcher's own, or that change what a connection or a body is.
    private static let reserved: Set<String> = [
        "accept-encoding", "connection", "content-encoding", "content-length", "expect", "host", "http2-settings",
        "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding",
        "upgrade", "user-agent", "via",
    ]
    /// Names and values of all headers together, in bytes: below what common servers take.
    private static let maximumBytes = 16_384

    private var headers: [(name: String, value: String)] = []

    init() {}

    /// - Throws: `invalid_source` for what is no header, or not the sender's to set.
    public init(_ headers: [String: String]) throws(AttachmentError) {
        var bytes = 0
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            let isToken =
                !name.isEmpty
                && name.utf8.allSatisfy {
                    $0.isDigit || ($0 | 0x20).isLowercaseLetter || "!#$%&'*+-.^_`|~".utf8.contains($0)
                }
            guard isToken else { throw .invalidSource(reason: "'\(name)' is not a valid header name") }
            guard !Self.reserved.contains(name.lowercased()) else {
                throw .invalidSource(reason: "the header '\(name)' is not allowed")
            }
            guard value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 < 0x7F) }) else {
                throw .invalidSource(reason: "the header '\(name)' contains a control or non-ASCII character")
            }
            bytes += name.utf8.count + value.utf8.count
            self.headers.append((name, value))
        }
        guard bytes <= Self.maximumBytes else {
            throw .invalidSource(reason: "the headers have more than \(Self.maximumBytes) bytes")
        }
    }

    /// Adds one of the service's own; what the submission says goes before.
    mutating func addUnlessThere(_ name: String, _ value: String) {
        guard !headers.contains(where: { $0.name.lowercased() == name.lowercased() }) else { return }
        headers.append((name, value))
    }

    func add(to request: inout HTTPHeaders) {
        for (name, value) in headers { request.replaceOrAdd(name: name, value: value) }
    }
}
