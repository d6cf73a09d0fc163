import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization
import TestSupport

@testable import HTTPServer

/// A server with next to nothing behind it, on a port of its own of the loopback.
///
/// The application answers `/echo` with the body, `/inform` with interim responses on the way, `/chunks` without saying how long, `/early` before it has read anything,
/// `/status/N` with that status and a body, `/broken` with half of what it promises, and all else with `fine`. Directly
/// answered are `/direct/N` with N bytes, `/later/N` after a turn of the loop, and `/stuck`, never.
enum TrivialServer {
    /// What the application met with when it read bodies.
    final class Faults: Sendable {
        private let state = Mutex<[ConnectionFault]>([])
        var list: [ConnectionFault] { state.withLock { $0 } }
        func add(_ fault: ConnectionFault) { state.withLock { $0.append(fault) } }
    }

    private struct BrokenOff: Error {}

    static func run<Result: Sendable>(
        limits: ConnectionLimits = ConnectionLimits(), tls: TLSFiles? = nil, grace: Duration = .milliseconds(500),
        logger: Logger = Logger(label: "test"), faults: Faults = Faults(),
        _ body: (Int) async throws -> Result
    ) async throws -> Result {
        try await run(limits: limits, tls: tls, grace: grace, logger: logger, faults: faults) { port, _ in
            try await body(port)
        }
    }

    /// - Parameter body: Gets the port, and what stops the server.
    static func run<Result: Sendable>(
        limits: ConnectionLimits = ConnectionLimits(), tls: TLSFiles? = nil, grace: Duration = .milliseconds(500),
        logger: Logger = Logger(label: "test"), faults: Faults = Faults(),
        at places: [Listener.Place] = [.address(host: "127.0.0.1", port: 0)],
        _ body: (Int, ServiceGroup) async throws -> Result
    ) async throws -> Result {
        let group = MultiThreadedEventLoopGroup.singleton
        let states = try await EventLoopStates(group: group) { _ in DirectBytes() }
        let certificate = try tls.map { try ReloadingCertificate($0, logger: logger) }
        let channel = ConnectionChannel(
            responder: { request, writer, channel in
                if request.head.path == "/inform" {
                    try await inform(request, writer, on: channel)
                } else {
                    try await respond(request, writer, faults)
                }
            }, limits: limits,
            loopStates: states, tls: certificate, grace: grace,
            refusals: { fault in
                let status: HTTPResponse.Status = fault == .tooSlow ? .requestTimeout : .badRequest
                return (HTTPResponse(status: status), ByteBuffer(string: "\(fault)"))
            })
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = Listener(
            channel, at: places, group: group, logger: logger, onListening: { port.yield($0?.port ?? 0) })
        let services: [any ServiceLifecycle.Service] = [certificate].compactMap(\.self) + [server]
        let lifecycle = ServiceGroup(services: services, logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await lifecycle.run()
            }
            for await port in ports {
                let result = try await body(port, lifecycle)
                await lifecycle.triggerGracefulShutdown()
                try await tasks.waitForAll()
                return result
            }
            try await tasks.waitForAll()
            throw BrokenOff()
        }
    }

    @concurrent private static func write(
        _ body: ByteBuffer, _ status: HTTPResponse.Status, to writer: consuming ResponseWriter
    ) async throws {
        try await writer.write(
            response: HTTPResponse(status: status, length: body.readableBytes), body: ResponseBody(byteBuffer: body))
    }

    /// Answers with how many pieces came, of which it tells as they come, and again when it is too late.
    @concurrent private static func inform(
        _ request: Request, _ writer: consuming ResponseWriter, on channel: any Channel
    ) async throws {
        func send(_ text: String) async {
            let fields: HTTPFields = [.location: text, .contentLength: "3", .connection: "close"]
            await InterimResponse(HTTPResponse(status: .init(code: 104), headerFields: fields)).send(on: channel)
        }
        await send("begin")
        for try await piece in request.body { await send("\(piece.readableBytes)") }
        var body = try await writer.writeHead(HTTPResponse(status: .ok, length: 4))
        await send("late")
        try await body.write(ByteBuffer(string: "done"))
        await send("late")
        try await body.finish(nil)
    }

    @concurrent private static func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ faults: Faults
    ) async throws {
        let path = request.head.path ?? ""
        switch path {
        case "/echo":
            var received = ByteBuffer()
            do {
                for try await piece in request.body { received.writeImmutableBuffer(piece) }
            } catch let fault as ConnectionFault {
                faults.add(fault)
                throw fault
            }
            try await write(received, .ok, to: writer)
        case "/chunks":
            var body = try await writer.writeHead(HTTPResponse(status: .ok))
            for piece in ["one ", "", String(repeating: "x", count: 50_000), " three"] {
                try await body.write(ByteBuffer(string: piece))
            }
            try await body.finish(nil)
        case "/early":
            try await write(ByteBuffer(string: "no"), .unauthorized, to: writer)
        case "/broken":
            var body = try await writer.writeHead(HTTPResponse(status: .ok, length: 100))
            try await body.write(ByteBuffer(string: "half"))
            throw BrokenOff()
        case let path where path.hasPrefix("/status/"):
            let status = HTTPResponse.Status(code: Int(path.dropFirst(8)) ?? 500)
            try await write(ByteBuffer(string: "body"), status, to: writer)
        default:
            try await write(ByteBuffer(string: "fine"), .ok, to: writer)
        }
    }
}

extension HTTPResponse {
    fileprivate init(status: Status, length: Int) {
        self.init(status: status, headerFields: [.contentLength: "\(length)"])
    }
}

/// Answers with so many bytes.
private final class DirectBytes: DirectResponder {
    func answers(_ head: HTTPRequestHead) -> Bool {
        ["/direct/", "/later/", "/stuck"].contains { head.uri.hasPrefix($0) }
    }

    func tick(at now: NIODeadline) -> Bool { false }

    func respond(to head: HTTPRequestHead, _ exchange: DirectExchange) {
        let parts = head.uri.split(separator: "/")
        let count = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        switch parts.first {
        case "direct": send(count, exchange)
        case "later": exchange.eventLoop.assumeIsolated().execute { [self] in send(count, exchange) }
        default: break
        }
    }

    private func send(_ count: Int, _ exchange: DirectExchange) {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "\(count)"])
        var body = ByteBuffer(repeating: UInt8(ascii: "d"), count: count)
        if exchange.isPlain, count < 1000 {
            var bytes = exchange.encode(head)
            bytes.writeBuffer(&body)
            exchange.begin(bytes, status: 200)
        } else {
            exchange.begin(head)
            exchange.write(.byteBuffer(body))
        }
        exchange.finish()
    }
}
