package import Logging
package import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle

/// Takes connections at one place or several, and has each answered.
///
/// On the graceful shutdown no more are taken, idle ones are closed, and it ends when the last one has.
package struct Listener: ServiceLifecycle.Service {
    package enum Place: Sendable {
        case address(host: String, port: Int)
        /// A stream socket that is listened on already; the listener closes it.
        case socket(Int32)
    }

    private typealias Accepted = NIOAsyncChannel<ConnectionChannel.Value, Never>

    private let connections: ConnectionChannel
    private let places: [Place]
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onListening: @Sendable (SocketAddress?) -> Void

    /// - Parameter onListening: Called once it listens everywhere, with the first place's address.
    package init(
        _ connections: ConnectionChannel, at places: [Place], group: any EventLoopGroup, logger: Logger,
        onListening: @escaping @Sendable (SocketAddress?) -> Void
    ) {
        self.connections = connections
        self.places = places
        self.group = group
        self.logger = logger
        self.onListening = onListening
    }

    package func run() async throws {
        var channels: [Accepted] = []
        var quiescings: [ServerQuiescingHelper] = []
        for place in places {
            let quiescing = ServerQuiescingHelper(group: group)
            do {
                channels.append(try await listen(at: place, quiescing))
            } catch {
                for channel in channels { try? await channel.executeThenClose { _ in } }
                throw error
            }
            quiescings.append(quiescing)
        }
        await withGracefulShutdownHandler {
            onListening(channels.first?.channel.localAddress)
            await withDiscardingTaskGroup { group in
                for channel in channels { group.addTask { await accept(from: channel) } }
            }
        } onGracefulShutdown: { [quiescings] in
            for quiescing in quiescings { quiescing.initiateShutdown(promise: nil) }
        }
    }

    private func listen(at place: Place, _ quiescing: ServerQuiescingHelper) async throws -> Accepted {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
        switch place {
        case .address(let host, let port):
            return try await bootstrap.bind(host: host, port: port) { setUp($0) }
        case .socket(let number):
            return try await bootstrap.bind(number) { setUp($0) }
        }
    }

    private func setUp(_ channel: any Channel) -> EventLoopFuture<ConnectionChannel.Value> {
        connections.setup(channel: channel, logger: logger)
    }

    private func accept(from channel: Accepted) async {
        await withDiscardingTaskGroup { group in
            do {
                try await channel.executeThenClose { accepted in
                    for try await connection in accepted {
                        group.addTask { await connections.handle(value: connection, logger: logger) }
                    }
                }
            } catch {
                logger.error("cannot accept connections", metadata: ["reason": "\(error)"])
            }
        }
    }
}
