import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPServer

/// Connections that come while the server stops, so that nobody handles them.
@Suite(.timeLimit(.minutes(10))) struct AcceptedConnectionTests {
    @Test func `a connection that nobody handles is closed, and harms no other`() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            _ = AcceptedConnection(try NIOAsyncChannel(wrappingChannelSynchronously: channel))
        }
        // From here on the channel alone would hold the writer, and NIO end the process. It may be closed already.
        try? await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        try await channel.closeFuture.get()
    }

    @Test func `one that is handled is left to its handler`() async throws {
        let channel = NIOAsyncTestingChannel()
        let taken = try await channel.testingEventLoop.executeInContext {
            AcceptedConnection(try NIOAsyncChannel(wrappingChannelSynchronously: channel)).take()
        }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        try await Task.sleep(for: .milliseconds(50))
        #expect(channel.isActive)
        try await taken.executeThenClose { _, _ in }
        #expect(!channel.isActive)
    }
}
