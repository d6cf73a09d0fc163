import Testing

@testable import Stores

/// How long a node goes by what it knows of how many jobs wait.
@Suite struct QueueRoomTests {
    private let start = ContinuousClock.now

    /// Looks and finds so many.
    private func look(at room: inout QueueRoom, _ waiting: Int, among nodes: Int = 1, after: Duration = .zero) {
        room.note(waiting, under: 100, among: nodes, by: room.look(at: start + after))
    }

    private func waiting(
        _ room: QueueRoom, before count: Int = 1, under limit: Int = 100, after: Duration = .zero
    ) -> Int? {
        room.waiting(under: limit, before: count, at: start + after)
    }

    @Test func `one look serves until the room is used up that it found`() {
        var room = QueueRoom()
        #expect(waiting(room) == nil)
        look(at: &room, 97)
        #expect(waiting(room, before: 3) == 97)
        #expect(waiting(room, before: 4) == nil)
        room.change(by: 2)
        #expect(waiting(room) == 99)
        #expect(waiting(room, before: 2) == nil)
        room.change(by: 1)
        #expect(waiting(room) == nil)
    }

    @Test func `of several nodes each has its share of the room`() {
        var room = QueueRoom()
        look(at: &room, 40, among: 3)
        #expect(waiting(room, before: 20) == 40)
        #expect(waiting(room, before: 21) == nil)
        room.change(by: 20)
        #expect(waiting(room) == nil)
        // Where nobody has a share, each looks before every submission.
        look(at: &room, 98, among: 3)
        #expect(waiting(room) == nil)
    }

    @Test func `a look is good for a second, and never for another limit`() {
        var room = QueueRoom()
        look(at: &room, 1)
        #expect(waiting(room, after: .milliseconds(999)) == 1)
        #expect(waiting(room, after: .seconds(1)) == nil)
        #expect(waiting(room, under: 99) == nil)
    }

    @Test func `that there is no room is believed for a moment, and only until this node makes some`() {
        var room = QueueRoom()
        look(at: &room, 100)
        #expect(waiting(room, after: .milliseconds(99)) == 100)
        #expect(waiting(room, after: .milliseconds(100)) == nil)
        room.free()
        #expect(waiting(room) == nil)
        look(at: &room, 101)
        room.change(by: 1)
        #expect(waiting(room) == 101)
        room.change(by: -1)
        #expect(waiting(room) == nil)
    }

    @Test func `what is added or freed while somebody looks isn't overlooked`() {
        var room = QueueRoom()
        let first = room.look(at: start)
        room.change(by: 5)
        room.note(10, under: 100, among: 1, by: first)
        #expect(waiting(room) == 15)
        let second = room.look(at: start + .milliseconds(1))
        room.free()
        room.note(100, under: 100, among: 1, by: second)
        #expect(waiting(room) == nil)
        // Nor does a look that took long take the place of one that began later.
        let third = room.look(at: start + .milliseconds(2))
        look(at: &room, 30, after: .milliseconds(3))
        room.note(100, under: 100, among: 1, by: third)
        #expect(waiting(room) == 30)
    }
}
