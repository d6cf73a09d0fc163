import Foundation
import Glibc
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// A service that is paused or killed in the middle of what it does.
@Suite(.timeLimit(.minutes(5))) struct PausedServiceTests {
    /// How the client of a request ends.
    enum Client: CaseIterable {
        /// It closes the connection, as programs do that give up.
        case leaves
        case resets
        /// It closes its side alone and waits for the answer.
        case finishesSending
        case waits

        /// Whether it gets what it asked for after so long a pause.
        func isServed(afterLongPause isLong: Bool) -> Bool {
            switch self {
            case .leaves, .finishesSending: !isLong
            case .resets: false
            case .waits: true
            }
        }
    }

    @Test(.inCheck("pauses for more than 10 s"), arguments: [true, false])
    func `a paused service does nothing for clients that gave up before it woke`(isLong: Bool) async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        let key = try #require(server.key)
        let port = try #require(server.url.port)
        let process = server.program.process.processIdentifier
        kill(process, SIGSTOP)
        let statuses = try await onThread { () throws -> [Client: Int] in
            var clients: [Client: RawClient] = [:]
            for client in Client.allCases {
                let raw = try RawClient(port: port)
                raw.send(
                    "PUT /v1/categories/\(client) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
                switch client {
                case .leaves: raw.leave()
                case .resets: raw.reset()
                case .finishesSending: raw.finishSending()
                case .waits: break
                }
                clients[client] = raw
            }
            Thread.sleep(forTimeInterval: isLong ? 11.5 : 0.5)
            kill(process, SIGCONT)
            return try [Client.finishesSending, .waits].reduce(into: [:]) { $0[$1] = try clients[$1]?.reply().status }
        }
        for (client, status) in statuses {
            #expect(status == (client.isServed(afterLongPause: isLong) ? 201 : 503), "\(client)")
        }
        if !isLong {
            try await eventually("the client that left is served") {
                try await server.get("/v1/categories/leaves").status == 200
            }
        }
        for client in Client.allCases {
            let isThere = try await server.get("/v1/categories/\(client)").status == 200
            #expect(isThere == client.isServed(afterLongPause: isLong), "\(client)")
        }
    }

    @Test(.needs(.ceph), arguments: [StoreKind.directory, .cluster])
    func `a handover whose sender is killed in the call is made again in time, and the attempt doesn't count`(
        kind: StoreKind
    ) async throws {
        let harness = try ServiceHarness(kind)
        let isFirst = Mutex(true)
        let origin = try await LocalOrigin { _ in
            if isFirst.withLock({ first in
                defer { first = false }
                return first
            }) {
                try await Task.sleep(for: .seconds(600))
            }
            return LocalOrigin.Answer(status: 204)
        }
        let key = try await harness.makeKey("--role", "admin")
        var server = try await harness.serve("--callback-allow", "127.0.0.1", key: key)
        let put = try await server.send(
            "PUT", "/v1/notifications/n", ["Content-Type": "application/json"],
            body: Data(
                #"{"payload":{"aps":{"alert":"a"}},"late_limit":30,"handover":{"url":"\#(origin.url("/hook"))"}}"#.utf8)
        )
        try #require(put.status == 201, "\(put.text)")
        try await eventually("the call has begun") { !origin.requests.isEmpty }
        let killed = server
        // Another node takes over the call of a node; a directory needs a service that starts.
        if kind == .cluster { server = try await harness.serve("--callback-allow", "127.0.0.1", key: key) }
        killed.signal(SIGKILL)
        _ = try await killed.program.end()
        if kind == .directory { server = try await harness.serve("--callback-allow", "127.0.0.1", key: key) }
        try await eventually("the call is made again") {
            try await server.get("/v1/notifications/n/firings/1").json["state"] as? String == "delivered"
        }
        #expect(origin.requests.count == 2)
        let firing = try await server.get("/v1/notifications/n/firings/1").json
        #expect((firing["call"] as? [String: Any])?["attempts"] as? Int == 1, "\(firing)")
    }
}
