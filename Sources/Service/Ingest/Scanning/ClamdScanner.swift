import NIOCore
import NIOPosix

/// ClamAV's daemon, or whatever speaks its INSTREAM: the source goes over a socket, in pieces that each begin with their
/// length, so that the daemon needs no right to any file. One connection for each source.
public struct ClamdScanner: SourceScanner {
    /// Where it listens.
    public enum Address: Hashable, Sendable {
        case unix(path: String)
        case network(host: String, port: Int)

        /// An absolute path, or `host:port`, an address of IPv6 in brackets; nil for anything else.
        public init?(_ text: String) {
            if text.hasPrefix("/"), text.utf8.count < 108 {
                self = .unix(path: text)
                return
            }
            guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
                (1...65_535).contains(port)
            else { return nil }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") || host.contains("/") {
                return nil
            }
            guard !host.isEmpty else { return nil }
            self = .network(host: String(host), port: port)
        }
    }

    private static let connectLimit: TimeAmount = .seconds(5)

    private let address: Address

    public init(at address: Address) {
        self.address = address
    }

    public func verdict(on source: ScannedSource) async throws(ScanFailure) -> ScanVerdict {
        do {
            return try await connected().executeThenClose { inbound, outbound in
                try await withThrowingTaskGroup(of: String?.self) { group in
                    group.addTask {
                        do {
                            try await Self.send(source, to: outbound)
                        } catch let failure as ScanFailure {
                            throw failure
                        } catch is IOError {
                            // It wants no more: what it says about that is heard.
                        } catch is ChannelError {}
                        return nil
                    }
                    group.addTask { try await Self.reply(from: inbound) }
                    defer { group.cancelAll() }
                    while let answer = try await group.next() {
                        guard let answer else { continue }
                        let verdict = try ClamdReply.verdict(of: answer)
                        // What was found in a part is found; that there is nothing, only the whole tells.
                        guard verdict != .clean || source.isRead else { throw ScanFailure.early }
                        return verdict
                    }
                    throw ScanFailure.silent
                }
            }
        } catch let failure as ScanFailure {
            throw failure
        } catch {
            throw ScanFailure("it can't be reached")
        }
    }

    private func connected() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(Self.connectLimit)
        let wrap: @Sendable (any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> = { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        return switch address {
        case .unix(let path): try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: wrap)
        case .network(let host, let port):
            try await bootstrap.connect(host: host, port: port, channelInitializer: wrap)
        }
    }

    private static func send(
        _ source: ScannedSource, to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        try await outbound.write(ByteBuffer(string: "zINSTREAM\0"))
        for try await piece in source.pieces {
            var buffer = ByteBufferAllocator().buffer(capacity: piece.count + 4)
            buffer.writeInteger(UInt32(piece.count))
            buffer.writeBytes(piece)
            try await outbound.write(buffer)
        }
        try await outbound.write(ByteBuffer(integer: UInt32(0)))
    }

    /// - Returns: Up to the NUL; nil where the other side ends before.
    private static func reply(from inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> String? {
        var reply: [UInt8] = []
        for try await piece in inbound {
            reply += piece.readableBytesView
            if let end = reply.firstIndex(of: 0) { return String(decoding: reply[..<end], as: UTF8.self) }
            guard reply.count <= ClamdReply.longest else { throw ScanFailure("its answer is too long") }
        }
        throw ScanFailure.silent
    }
}
