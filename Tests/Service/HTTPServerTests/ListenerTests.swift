import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
    @Test func `connections are taken at every place`() async throws {
        let ports = try [FreePort.find(), FreePort.find()]
        try await TrivialServer.run(at: ports.map { .address(host: "127.0.0.1", port: $0) }) { first, _ in
            #expect(first == ports[0])
            for port in ports {
                let reply = try await onThread {
                    let client = try RawClient(port: port)
                    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    return try client.reply()
                }
                #expect(reply.status == 200)
            }
        }
        for port in ports { await #expect(throws: RawClient.Failure.cannotConnect) { try await connect(to: port) } }
    }

    @Test func `where one place can't be had, none is kept`() async throws {
        let free = try FreePort.find()
        try await TrivialServer.run { taken in
            await #expect(throws: (any Error).self) {
                try await TrivialServer.run(
                    at: [.address(host: "127.0.0.1", port: free), .address(host: "127.0.0.1", port: taken)]
                ) { _, _ in }
            }
            await #expect(throws: RawClient.Failure.cannotConnect) { try await connect(to: free) }
            try await connect(to: taken)
        }
    }

    private func connect(to port: Int) async throws {
        try await onThread { _ = try RawClient(port: port) }
    }
}
