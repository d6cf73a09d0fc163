package import NIOCore

/// What the connections of one event loop share: the time to look after them, the date, and who answers directly.
///
/// Touched on its loop alone.
final class EventLoopState {
    /// How often connections are looked at. Half a second would do for everything that is promised.
    static let interval: TimeAmount = .milliseconds(200)

    let loop: any EventLoop
    let responder: any DirectResponder
    let date = DateText()
    private var connections: [ObjectIdentifier: HTTP1Connection] = [:]
    private var isTicking = false

    init(loop: any EventLoop, responder: any DirectResponder) {
        self.loop = loop
        self.responder = responder
    }

    func add(_ connection: HTTP1Connection) {
        connections[ObjectIdentifier(connection)] = connection
        tickLater()
    }

    func remove(_ connection: HTTP1Connection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    private func tickLater() {
        guard !isTicking else { return }
        isTicking = true
        loop.assumeIsolated().scheduleTask(in: Self.interval) { [self] in
            isTicking = false
            let now = NIODeadline.now()
            // One that is closed removes itself.
            for connection in Array(connections.values) { connection.check(at: now) }
            if responder.tick(at: now) || !connections.isEmpty { tickLater() }
        }
    }
}

/// The states of all event loops.
package struct EventLoopStates: Sendable {
    private let loopStates: [ObjectIdentifier: NIOLoopBound<EventLoopState>]

    /// - Parameter makeResponder: Called on each loop, for that loop.
    package init(
        group: any EventLoopGroup, makeResponder: @escaping @Sendable (any EventLoop) -> any DirectResponder
    ) async throws {
        var loopStates: [ObjectIdentifier: NIOLoopBound<EventLoopState>] = [:]
        for loop in group.makeIterator() {
            loopStates[ObjectIdentifier(loop)] = try await loop.submit {
                NIOLoopBound(EventLoopState(loop: loop, responder: makeResponder(loop)), eventLoop: loop)
            }.get()
        }
        self.loopStates = loopStates
    }

    /// The state of a loop, on that loop.
    subscript(loop: any EventLoop) -> EventLoopState? {
        loopStates[ObjectIdentifier(loop)]?.value
    }
}
