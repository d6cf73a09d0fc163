public import Foundation
import Glibc

/// What came back on a raw connection.
public struct RawReply: Sendable {
    public var status: Int
    /// Names in lower case.
    public var headers: [String: String]
    public var body: Data

    /// The code of a problem.
    public var code: String? {
        (try? JSONSerialization.jsonObject(with: body) as? [String: Any])?["code"] as? String
    }
}

/// A connection on which a test sends whatever it likes, byte by byte, and leaves as it likes. What waits for the peer
/// blocks its thread, and belongs into ``onThread(_:)``: two tests that waited on the threads of Swift's tasks would keep
/// the service, which answers there, from answering.
public final class RawClient {
    public enum Failure: Error, Equatable {
        case cannotConnect
        case timedOut
        case reset
        /// The peer closed before the reply was whole.
        case ended(Int)
        case notHTTP(String)
    }

    private var number: Int32
    private var received: [UInt8] = []

    /// - Parameter receiveBuffer: Bytes that the kernel takes in while nobody reads; nil for its own idea.
    @available(*, noasync)
    public init(port: Int, receiveBuffer: Int32? = nil) throws {
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer {
            _ = unsafe setsockopt(
                number, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure.cannotConnect }
    }

    deinit { leave() }

    /// Sends all of it; false where the peer takes no more.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(
                    number, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Some bytes; empty at the end.
    @available(*, noasync)
    public func receive(upTo count: Int = 65_536, within seconds: Double = 60) throws -> [UInt8] {
        var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, Int32(seconds * 1000)) > 0 else { throw Failure.timedOut }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = unsafe recv(number, &bytes, count, 0)
        guard read >= 0 else { throw Failure.reset }
        return Array(bytes.prefix(read))
    }

    /// The next reply, whole.
    ///
    /// - Parameter isHead: It has no body, whatever its headers say.
    @available(*, noasync)
    public func reply(isHead: Bool = false, within seconds: Double = 60) throws -> RawReply {
        let end = Array("\r\n\r\n".utf8)
        var split = received.firstRange(of: end)
        while split == nil {
            try more(within: seconds)
            split = received.firstRange(of: end)
        }
        guard let split else { throw Failure.timedOut }
        let lines = String(decoding: received[..<split.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        received.removeSubrange(..<split.upperBound)
        let start = lines[0].split(separator: " ")
        guard start.count >= 2, start[0] == "HTTP/1.1", let status = Int(start[1]) else {
            throw Failure.notHTTP(lines[0])
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Failure.notHTTP(line) }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        if isHead || status == 204 || status == 304 || status < 200 {
            return RawReply(status: status, headers: headers, body: Data())
        }
        if headers["transfer-encoding"] == "chunked" {
            return RawReply(status: status, headers: headers, body: try chunks(within: seconds))
        }
        guard let length = headers["content-length"].flatMap({ Int($0) }) else {
            throw Failure.notHTTP("no length")
        }
        return RawReply(status: status, headers: headers, body: try take(length, within: seconds))
    }

    private func chunks(within seconds: Double) throws -> Data {
        var body = Data()
        while true {
            while received.firstRange(of: [13, 10]) == nil { try more(within: seconds) }
            guard let line = received.firstRange(of: [13, 10]),
                let size = Int(String(decoding: received[..<line.lowerBound], as: UTF8.self), radix: 16)
            else { throw Failure.notHTTP("no chunk") }
            received.removeSubrange(..<line.upperBound)
            let chunk = try take(size + 2, within: seconds)
            if size == 0 { return body }
            body.append(chunk.prefix(size))
        }
    }

    private func take(_ count: Int, within seconds: Double) throws -> Data {
        while received.count < count { try more(within: seconds) }
        defer { received.removeFirst(count) }
        return Data(received.prefix(count))
    }

    private func more(within seconds: Double) throws {
        let bytes = try receive(within: seconds)
        guard !bytes.isEmpty else { throw Failure.ended(received.count) }
        received += bytes
    }

    /// How the peer ends the connection, with how many bytes on the way.
    @available(*, noasync)
    public func end(within seconds: Double = 300) throws -> (bytes: Int, wasReset: Bool) {
        var count = received.count
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            do throws(Failure) {
                let bytes: [UInt8]
                do { bytes = try receive(within: seconds) } catch let error as Failure { throw error } catch {
                    throw .timedOut
                }
                if bytes.isEmpty { return (count, false) }
                count += bytes.count
            } catch {
                guard error == .reset else { throw error }
                return (count, true)
            }
        }
        throw Failure.timedOut
    }

    /// Closes this side; the other may go on.
    public func finishSending() { _ = shutdown(number, Int32(SHUT_WR)) }

    /// Closes without a word.
    public func leave() {
        guard number >= 0 else { return }
        close(number)
        number = -1
    }

    /// Resets the connection.
    public func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        leave()
    }
}

extension RawClient {
    /// One request on a connection of its own.
    public static func ask(
        _ port: Int, _ method: String, _ path: String, _ headers: [String] = [], body: String = ""
    ) async throws -> RawReply {
        try await onThread {
            let client = try RawClient(port: port)
            let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
            let lines = ["\(method) \(path) HTTP/1.1", "Host: x"] + headers + length
            client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
            return try client.reply(isHead: method == "HEAD")
        }
    }
}
