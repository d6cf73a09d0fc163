import HTTPServer
import NIOCore

/// The body of an answer on its way from the store to the socket, piece by piece, so that each piece can be the last when
/// access is taken back.
final class ContentStream: DirectResponse {
    /// Bytes that are handed to the socket at once: few enough to stop within a moment.
    private static let piece: Int64 = 512 << 10
    /// The same where they have to pass through memory.
    private static let encryptedPiece: Int64 = 128 << 10
    /// The same where a store has to be asked for them: few enough requests.
    private static let storedPiece: Int64 = 1 << 20
    /// Pieces that wait for the socket, so that it never waits for us.
    private static let ahead = 2
    /// How long bytes go on being sent where the records can't be asked.
    private static let longestDoubt: TimeAmount = .seconds(1)

    private var content: OpenContent
    private let cache: ContentCache
    private let exchange: DirectExchange
    private var rest: Range<Int64>
    private var ahead = 0
    private var isBeingRead = false
    private var isBeingChecked = false
    /// When it was last known that access had not been taken back.
    private var permittedAt = NIODeadline.now()
    private var hasEnded = false

    init(
        _ content: OpenContent, _ bytes: Range<Int64>, by cache: ContentCache, _ exchange: DirectExchange
    ) {
        self.content = content
        self.cache = cache
        self.exchange = exchange
        rest = bytes
    }

    func sendMore() {
        switch content.body {
        case .file(let file): sendMore(of: file)
        case .stream(let stream): readMore(of: stream)
        case .redirect, .elsewhere: break
        }
    }

    private func sendMore(of file: BlobFile) {
        while !hasEnded, ahead < Self.ahead, !rest.isEmpty {
            let piece = next(exchange.isSecure ? Self.encryptedPiece : Self.piece)
            if exchange.isSecure {
                var bytes = ByteBuffer()
                guard file.read(piece, into: &bytes) else { return exchange.cut() }
                send(.byteBuffer(bytes))
            } else {
                send(
                    .fileRegion(
                        FileRegion(
                            fileHandle: file.handle, readerIndex: Int(piece.lowerBound),
                            endIndex: Int(piece.upperBound))))
            }
            rest = piece.upperBound..<rest.upperBound
        }
        if !hasEnded { exchange.flush() }
    }

    /// Reads the next piece and sends it, unless one is being read: there are never more than the socket is about to take.
    private func readMore(of stream: BlobStream) {
        guard !hasEnded, !isBeingRead, ahead < Self.ahead, !rest.isEmpty else { return }
        isBeingRead = true
        let piece = next(Self.storedPiece)
        let loop = exchange.eventLoop
        let box = NIOLoopBound(self, eventLoop: loop)
        Task {
            let bytes = await stream.read(piece)
            loop.execute { box.value.wasRead(bytes, upTo: piece.upperBound) }
        }
    }

    private func wasRead(_ bytes: ByteBuffer?, upTo end: Int64) {
        isBeingRead = false
        guard !hasEnded else { return }
        guard let bytes else { return exchange.cut() }
        send(.byteBuffer(bytes))
        rest = end..<rest.upperBound
        exchange.flush()
        sendMore()
    }

    private func next(_ size: Int64) -> Range<Int64> {
        rest.lowerBound..<min(rest.lowerBound + size, rest.upperBound)
    }

    private func send(_ data: IOData) {
        ahead += 1
        let written = exchange.eventLoop.makePromise(of: Void.self)
        // Holds the file until the socket has taken the piece.
        written.futureResult.assumeIsolated().whenComplete { [self] in sent($0) }
        exchange.write(data, written)
    }

    private func sent(_ result: Result<Void, any Error>) {
        guard !hasEnded else { return }
        guard case .success = result else { return exchange.cut() }
        ahead -= 1
        if !rest.isEmpty {
            // By way of the loop, so that one client who reads fast keeps no other waiting.
            exchange.eventLoop.assumeIsolated().execute { [self] in sendMore() }
        } else if ahead == 0 {
            hasEnded = true
            exchange.finish()
        }
    }

    /// Stops where access was taken back, or where nobody could tell for a second that it wasn't.
    func check() {
        guard !hasEnded else { return }
        let now = NIODeadline.now()
        let revocations = cache.revocations
        if let revocations, revocations == content.revocations {
            permittedAt = now
            return
        }
        guard now - permittedAt < Self.longestDoubt else { return exchange.cut() }
        guard !isBeingChecked else { return }
        isBeingChecked = true
        cache.check(content) { [self] may in
            guard !hasEnded else { return }
            isBeingChecked = false
            switch may {
            case true?:
                content.revocations = revocations
                permittedAt = now
            case false?: exchange.cut()
            case nil: break
            }
        }
    }

    func end() {
        hasEnded = true
    }
}
