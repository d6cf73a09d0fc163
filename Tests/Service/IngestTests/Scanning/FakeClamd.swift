import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Takes connections as clamd does, reads what comes by INSTREAM, and behaves as it is told.
final class FakeClamd: Sendable {
    enum Manner: Sendable {
        /// This, with the NUL, once all has come.
        case answers(String)
        /// The same at once, whatever comes.
        case answersEarly(String)
        /// Ends the connection at once, without a word.
        case leaves
        case isSilent
    }

    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// What came, whole, of each connection that said where it ends.
    let streams = Mutex<[Data]>([])

    /// Listens at a path or on a port of the loopback for as long as `body`.
    static func run<Result>(
        _ manner: Manner, atPath path: String? = nil, _ body: (FakeClamd, _ port: Int) async throws -> Result
    ) async throws -> Result {
        let daemon = FakeClamd()
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        let accept: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture {
                let connection = try Connection(wrappingChannelSynchronously: channel)
                Task { try? await daemon.serve(connection, manner) }
            }
        }
        let bound = bootstrap.childChannelInitializer(accept)
        let listener =
            if let path {
                try await bound.bind(unixDomainSocketPath: path).get()
            } else {
                try await bound.bind(host: "127.0.0.1", port: 0).get()
            }
        do {
            let result = try await body(daemon, listener.localAddress?.port ?? 0)
            try await listener.close()
            return result
        } catch {
            try await listener.close()
            throw error
        }
    }

    private func serve(_ connection: Connection, _ manner: Manner) async throws {
        try await connection.executeThenClose { inbound, outbound in
            if case .leaves = manner { return }
            if case .answersEarly(let answer) = manner {
                try await outbound.write(ByteBuffer(string: answer + "\0"))
                return
            }
            var received = ByteBuffer()
            var stream = Data()
            var isBegun = false
            for try await piece in inbound {
                received.writeImmutableBuffer(piece)
                if !isBegun {
                    guard received.readableBytes >= 10 else { continue }
                    guard received.readString(length: 10) == "zINSTREAM\0" else { return }
                    isBegun = true
                }
                while let length = received.getInteger(at: received.readerIndex, as: UInt32.self),
                    received.readableBytes >= Int(length) + 4
                {
                    received.moveReaderIndex(forwardBy: 4)
                    stream += received.readBytes(length: Int(length)) ?? []
                    guard length == 0 else { continue }
                    streams.withLock { [stream] in $0.append(stream) }
                    guard case .answers(let answer) = manner else { continue }
                    try await outbound.write(ByteBuffer(string: answer + "\0"))
                    return
                }
            }
        }
    }
}
