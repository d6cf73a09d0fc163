internal import Synchronization

/// The memory that one of several nodes has of the queue. Without it each claim and each submission would walk over dead rows.
final class QueueMemory: Sendable {
    private struct State {
        var lows: ClaimLows
        var room: QueueRoom
        /// Nodes that take requests, among which room is divided.
        var nodes = 1
    }

    private let state: Mutex<State>

    init(_ lows: ClaimLows, _ room: QueueRoom) {
        state = Mutex(State(lows: lows, room: room))
    }

    // MARK: Where claims begin to look

    func low(of line: ClaimLows.Line) -> Int64 { state.withLock { $0.lows.low(of: line, at: .now) } }

    /// Notes what a claim found.
    func found(_ ranks: [Int64], in line: ClaimLows.Line, wanted: Int, from low: Int64) {
        state.withLock { $0.lows.note(ranks, of: line, wanted: wanted, from: low, at: .now) }
    }

    /// This node has put jobs back into their lines.
    func lookFromTheStart() { state.withLock { $0.lows.forget() } }

    // MARK: How many wait

    /// See ``QueueRoom/waiting(under:before:at:)``.
    func waiting(under limit: Int, before count: Int) -> Int? {
        state.withLock { $0.room.waiting(under: limit, before: count, at: .now) }
    }

    /// A caller looks before it asks how many jobs wait.
    func look() -> QueueRoom.Look { state.withLock { $0.room.look(at: .now) } }

    /// Notes how many wait.
    func found(waiting: Int, under limit: Int, by look: QueueRoom.Look) {
        state.withLock { $0.room.note(waiting, under: limit, among: $0.nodes, by: look) }
    }

    func divide(among nodes: Int) { state.withLock { $0.nodes = nodes } }

    /// This node has changed the number of jobs.
    func changed(jobs: Int) { state.withLock { $0.room.change(by: jobs) } }

    /// This node has claimed some.
    func tookWaiting() { state.withLock { $0.room.free() } }
}
