package import NIOCore
package import NIOHTTP1

/// Answers some requests on the event loop itself, without the application's asynchronous channel: for responses that go out
/// as they lie in a file or in memory. There is one for each event loop, touched on that loop alone.
package protocol DirectResponder: AnyObject {
    /// Whether it answers this request. All others are the application's.
    func answers(_ head: HTTPRequestHead) -> Bool

    /// Answers it, now or later.
    func respond(to head: HTTPRequestHead, _ exchange: DirectExchange)

    /// Called a few times a second while connections are open, and as long after that as it wants.
    ///
    /// - Returns: Whether it wants to be called again.
    func tick(at now: NIODeadline) -> Bool
}

/// A direct answer that goes on for a while.
package protocol DirectResponse: AnyObject {
    /// Called a few times a second while it goes on.
    func check()
    /// Nothing more can be sent.
    func end()
}

/// A request that a ``DirectResponder`` answers. Once it is over, by an answer or because the client left, calls do nothing.
///
/// The answer's head says how long the body is, or its status that there is none: so the body needs no framing, and goes to
/// the socket as it is.
package struct DirectExchange {
    let connection: HTTP1Connection
    let number: Int

    /// Whether the request is still being answered.
    package var isCurrent: Bool { connection.isCurrent(number) }

    /// Whether the answer is the plainest, to HTTP/1.1, with a body and on a connection that goes on, so that bytes that
    /// were encoded before will do.
    package var isPlain: Bool { connection.isPlain(number) }

    /// Whether bytes of files have to pass through memory.
    package var isSecure: Bool { connection.isSecure }

    package var eventLoop: any EventLoop { connection.loopState.loop }

    /// The answer begins.
    ///
    /// - Parameter head: Without `Connection`.
    package func begin(_ head: HTTPResponseHead) { connection.beginDirect(head, number) }

    /// The answer begins with bytes that ``encode(_:)`` made, and with as much of the body as follows them. Only where the
    /// exchange ``isPlain``.
    package func begin(_ bytes: ByteBuffer, status: Int) { connection.beginDirect(bytes, status: status, number) }

    /// A head as it is written where the exchange ``isPlain``, to be sent more than once.
    package func encode(_ head: HTTPResponseHead) -> ByteBuffer { connection.encode(head) }

    /// More of the body. The promise fails where nobody waits for it.
    package func write(_ data: IOData, _ promise: EventLoopPromise<Void>? = nil) {
        connection.writeDirect(data, promise, number)
    }

    package func flush() { connection.flushDirect(number) }

    /// The answer goes on for a while; `response` is held until it is over.
    package func goOn(as response: any DirectResponse) { connection.goOn(as: response, number) }

    /// The answer is complete.
    package func finish() { connection.finishDirect(number) }

    /// Gives up: the connection is reset.
    package func cut() { connection.cutDirect(number) }
}
