import SatchelCore
import Testing

@testable import Jobs

@Suite struct FiringTurnsTests {
    private static func names(_ ids: String...) -> Set<NotificationName> {
        Set(ids.map { NotificationName(tenant: .local, id: NotificationID(rawValue: $0)) })
    }

    @Test func `what a group has is passed over until the group ends`() {
        var turns = FiringTurns()
        turns.begin(Self.names("a", "b"))
        turns.begin(Self.names("c"))
        #expect(turns.groups == 2 && turns.taken == Self.names("a", "b", "c"))
        turns.end(Self.names("a", "b"), undone: [])
        #expect(turns.groups == 1 && turns.taken == Self.names("c"))
    }

    @Test func `what can't be fired is passed over until time has passed, and no longer than its group`() {
        var turns = FiringTurns()
        turns.begin(Self.names("a", "b"))
        turns.lookAgain()
        #expect(turns.taken == Self.names("a", "b"))
        turns.end(Self.names("a", "b"), undone: Self.names("b"))
        #expect(turns.groups == 0 && turns.taken == Self.names("b"))
        turns.lookAgain()
        #expect(turns.taken.isEmpty)
    }
}
