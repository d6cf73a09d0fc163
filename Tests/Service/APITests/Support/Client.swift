import SatchelCore
import Foundation
import NIOCore
import NIOPosix

extension LiveService {
    /// Sends one request on a connection of its own and reads the answer.
    ///
    /// - Parameter key: Whose key goes along; nil for none.
    func send(
        _ method: Method, _ path: String, _ headers: [String: String] = [:], body: Data? = nil,
        key: AccessToken?
    ) async throws -> Reply {
        try await connect { connection in
            try await connection.send(
                connection.head(method, path, headers, length: body?.count, key: key, keepAlive: false))
            if let body { try await connection.send(body) }
            return try await connection.reply(to: method)
        }
    }

    /// The same as ``tenant``, with the key of `role`.
    func send(
        _ method: Method, _ path: String, _ headers: [String: String] = [:], body: Data? = nil,
        as role: AccessRole = .admin
    ) async throws -> Reply {
        try await send(method, path, headers, body: body, key: keys[role])
    }

    /// The same with a JSON body.
    func send(
        _ method: Method, _ path: String, _ headers: [String: String] = [:], json: String,
        as role: AccessRole = .admin
    ) async throws -> Reply {
        let headers = headers.merging(["Content-Type": "application/json"]) { $1 }
        return try await send(method, path, headers, body: Data(json.utf8), as: role)
    }

    /// A connection to say anything on, byte for byte; closed when `body` returns.
    func connect<Result>(_ body: (Connection) async throws -> Result) async throws -> Result {
        try await Connection.open(to: port, body)
    }
}

/// What is asked of a resource.
enum Method: String, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"
}

/// An answer that has been read to its end.
struct Reply: Sendable {
    var status: Int
    /// In the order of arrival, names in lower case.
    var headers: [(name: String, value: String)]
    var body: Data

    /// A header's first value.
    subscript(_ name: String) -> String? {
        headers.first { $0.name == name.lowercased() }?.value
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    var json: Tree {
        get throws { Tree(try JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)) }
    }
}

/// A JSON value that is asked for its parts; what isn't there is ``isMissing``.
struct Tree {
    private let value: Any?

    init(_ value: Any?) {
        self.value = value
    }

    subscript(_ key: String) -> Tree { Tree((value as? [String: Any])?[key]) }
    subscript(_ index: Int) -> Tree {
        let array = array
        return array.indices.contains(index) ? array[index] : Tree(nil)
    }

    /// Equal values are equal texts.
    var text: String {
        value.flatMap {
            try? JSONSerialization.data(
                withJSONObject: $0, options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes])
        }.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    var isMissing: Bool { value == nil }
    var isNull: Bool { value is NSNull }
    var string: String? { value as? String }
    var int: Int? { (value as? NSNumber)?.intValue }
    var double: Double? { (value as? NSNumber)?.doubleValue }
    var bool: Bool? { value as? Bool }
    var array: [Tree] { (value as? [Any])?.map { Tree($0) } ?? [] }
    var keys: [String] { (value as? [String: Any])?.keys.sorted() ?? [] }
}

/// One connection to a service, whose bytes are the test's own.
///
/// Not to be shared among tasks.
final class Connection {
    struct Ended: Error {}

    private let channel: any Channel
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var buffer = ByteBuffer()

    private init(
        _ channel: any Channel, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    ) {
        self.channel = channel
        self.outbound = outbound
        self.inbound = inbound
    }

    static func open<Result>(to port: Int, _ body: (Connection) async throws -> Result) async throws -> Result {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(Connection(channel.channel, outbound, inbound.makeAsyncIterator()))
        }
    }

    func send(_ data: Data) async throws {
        try await outbound.write(ByteBuffer(bytes: data))
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Sends no more; the other side can still answer.
    func finish() {
        outbound.finish()
    }

    /// Goes away without another word.
    func abort() async {
        try? await channel.close()
    }

    /// The head of a request.
    ///
    /// - Parameter types: Whether a job's body without a type is one of bytes.
    func head(
        _ method: Method, _ path: String, _ headers: [String: String] = [:], length: Int? = nil,
        key: AccessToken? = nil, keepAlive: Bool = true, types: Bool = true
    ) -> String {
        var headers = headers
        if types, path.hasPrefix("/v1/jobs"), length != nil || headers["Transfer-Encoding"] != nil,
            headers["Content-Type"] == nil
        {
            headers["Content-Type"] = "application/octet-stream"
        }
        var head = "\(method.rawValue) \(path) HTTP/1.1\r\nHost: satchel.test\r\n"
        if let key { head += "Authorization: Bearer \(key.secretText)\r\n" }
        if let length { head += "Content-Length: \(length)\r\n" }
        if !keepAlive { head += "Connection: close\r\n" }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { head += "\(name): \(value)\r\n" }
        return head + "\r\n"
    }

    /// The next bytes, nil at the end.
    func receive() async throws -> ByteBuffer? {
        if buffer.readableBytes > 0 {
            defer { buffer.clear() }
            return buffer
        }
        return try await inbound.next(isolation: #isolation)
    }

    /// Whether the other side has closed, and nothing is left to read.
    func isAtEnd() async throws -> Bool {
        if buffer.readableBytes > 0 { return false }
        return try await !fill()
    }

    private func fill() async throws -> Bool {
        guard var piece = try await inbound.next(isolation: #isolation) else { return false }
        buffer.discardReadBytes()
        buffer.writeBuffer(&piece)
        return true
    }

    /// One line, without its end.
    func line() async throws -> String {
        while true {
            if let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                let length = end - buffer.readerIndex + 1
                let line = buffer.readString(length: length) ?? ""
                return line.hasSuffix("\r\n") ? String(line.dropLast()) : String(line.dropLast())
            }
            guard try await fill() else { throw Ended() }
        }
    }

    private func bytes(_ count: Int) async throws -> Data {
        while buffer.readableBytes < count {
            guard try await fill() else { throw Ended() }
        }
        return Data(buffer.readBytes(length: count) ?? [])
    }

    /// The status and headers of an answer, 1xx included.
    func replyHead() async throws -> Reply {
        let start = try await line().split(separator: " ")
        guard start.count >= 2, start[0].hasPrefix("HTTP/1."), let status = Int(start[1]) else { throw Ended() }
        var reply = Reply(status: status, headers: [], body: Data())
        while true {
            let line = try await line()
            if line.isEmpty { return reply }
            guard let colon = line.firstIndex(of: ":") else { throw Ended() }
            reply.headers.append(
                (
                    line[..<colon].lowercased(),
                    line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                ))
        }
    }

    /// A piece of a chunked body; nil at its end.
    func chunk() async throws -> Data? {
        guard let length = Int(try await line(), radix: 16) else { throw Ended() }
        let piece = length > 0 ? try await bytes(length) : nil
        _ = try await line()
        return piece
    }

    /// A whole answer.
    func reply(to method: Method = .get) async throws -> Reply {
        var reply = try await replyHead()
        while reply.status < 200 { reply = try await replyHead() }
        if method == .head || reply.status == 204 || reply.status == 304 { return reply }
        if let length = reply["content-length"].flatMap({ Int($0) }) {
            reply.body = try await bytes(length)
        } else if reply["transfer-encoding"] == "chunked" {
            while let piece = try await chunk() { reply.body.append(piece) }
        } else {
            while try await fill() {}
            reply.body = Data(buffer.readBytes(length: buffer.readableBytes) ?? [])
        }
        return reply
    }
}
