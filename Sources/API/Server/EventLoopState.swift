import NIOCore

/// What the connections of one event loop share: the time to look after them, the date, and the content that was opened.
///
/// Touched on its loop alone.
final class EventLoopState {
    /// How often connections are looked at. Half a second would do for everything that is promised.
    static let interval: TimeAmount = .milliseconds(200)

    let loop: any EventLoop
    let contents: ContentCache
    let date = DateText()
    var tally: ContentTally
    private var connections: [ObjectIdentifier: ConnectionHandler] = [:]
    private var isTicking = false

    init(loop: any EventLoop, service: Service) {
        self.loop = loop
        tally = ContentTally(service.metrics)
        contents = ContentCache(loop: loop, opener: ContentOpener(service: service))
    }

    func add(_ connection: ConnectionHandler) {
        connections[ObjectIdentifier(connection)] = connection
        tickIfNeeded()
    }

    func remove(_ connection: ConnectionHandler) {
        connections[ObjectIdentifier(connection)] = nil
    }

    private func tickIfNeeded() {
        guard !isTicking, !connections.isEmpty || !contents.isEmpty else { return }
        isTicking = true
        loop.assumeIsolated().scheduleTask(in: Self.interval) { [self] in
            isTicking = false
            let now = NIODeadline.now()
            // One that is closed removes itself.
            for connection in Array(connections.values) { connection.check(at: now) }
            contents.tidy(at: now)
            tally.publish()
            tickIfNeeded()
        }
    }
}

/// The states of all event loops.
struct EventLoopStates: Sendable {
    private let loopStates: [ObjectIdentifier: NIOLoopBound<EventLoopState>]

    init(group: any EventLoopGroup, service: Service) async throws {
        var loopStates: [ObjectIdentifier: NIOLoopBound<EventLoopState>] = [:]
        for loop in group.makeIterator() {
            loopStates[ObjectIdentifier(loop)] = try await loop.submit {
                NIOLoopBound(EventLoopState(loop: loop, service: service), eventLoop: loop)
            }.get()
        }
        self.loopStates = loopStates
    }

    /// The state of a loop, on that loop.
    subscript(loop: any EventLoop) -> EventLoopState? {
        loopStates[ObjectIdentifier(loop)]?.value
    }
}
