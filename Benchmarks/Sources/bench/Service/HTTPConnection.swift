import Foundation
import Glibc

/// A connection to 127.0.0.1 that is kept open from request to request, as a client library keeps it. Blocks its thread.
///
/// As small as it can be, so that the client takes little of the processors that the service is measured on.
final class HTTPConnection {
    struct Answer {
        var status: Int
        var headers: [String: String]
        var body: Data
        /// Seconds from the first byte of the request to the last of the answer.
        var seconds: Double
    }

    private let port: UInt16
    private var descriptor: Int32 = -1
    private var buffer = Data()

    init(port: UInt16) {
        self.port = port
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// - Parameter body: Sent with its length; nil for none.
    /// - Throws: ``CommandFailure`` where the connection broke or what came is no answer.
    func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: Data? = nil
    ) throws -> Answer {
        let start = ContinuousClock.now
        if descriptor < 0 { try connect() }
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        try write(Data((head + "\r\n").utf8) + (body ?? Data()), of: path)
        var answer = try read(of: path, hasBody: method != "HEAD")
        answer.seconds = (ContinuousClock.now - start) / .seconds(1)
        if answer.headers["connection"]?.lowercased() == "close" { hangUp() }
        return answer
    }

    private func hangUp() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        buffer = Data()
    }

    private func connect() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        place.sin_port = port.bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = unsafe withUnsafeMutablePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(descriptor, pointer, length) == 0
            }
        }
        guard connected else { throw failure("connect", "nobody listens on port \(port)") }
        var on: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private func write(_ data: Data, of path: String) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if sent <= 0 {
                // A refusal may come before the whole body was taken: it is there to be read.
                return
            }
            rest = rest.dropFirst(sent)
        }
    }

    private func read(of path: String, hasBody: Bool) throws -> Answer {
        var head: Range<Data.Index>?
        while head == nil {
            head = buffer.range(of: Data("\r\n\r\n".utf8))
            if head == nil { try fill(path) }
        }
        guard let end = head else { throw failure(path, "no head") }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        buffer = Data(buffer[end.upperBound...])
        let words = lines[0].split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { throw failure(path, "answered '\(lines[0])'") }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        guard hasBody, status != 204, status != 304 else {
            return Answer(status: status, headers: headers, body: Data(), seconds: 0)
        }
        guard let length = headers["content-length"].flatMap(Int.init) else {
            throw failure(path, "answered \(status) without a length")
        }
        while buffer.count < length { try fill(path) }
        let body = Data(buffer.prefix(length))
        buffer = Data(buffer.dropFirst(length))
        return Answer(status: status, headers: headers, body: body, seconds: 0)
    }

    private func fill(_ path: String) throws {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else {
            hangUp()
            throw failure(path, "the connection ended in the middle of an answer")
        }
        buffer.append(contentsOf: piece[..<count])
    }

    private func failure(_ what: String, _ reason: String) -> CommandFailure {
        CommandFailure(command: ["http://127.0.0.1:\(port)", what], reason: reason)
    }
}
