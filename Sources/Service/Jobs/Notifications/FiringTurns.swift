import SatchelCore

/// Whose turn due notifications are: of groups that are being fired, so that the next look passes over them, or for a while
/// nobody's. A decision without input or output.
struct FiringTurns {
    private(set) var groups = 0
    private var underway: Set<NotificationName> = []
    /// What couldn't be fired: it keeps no other from its turn.
    private var passedOver: Set<NotificationName> = []

    /// What a look leaves out.
    var taken: Set<NotificationName> { underway.union(passedOver) }

    mutating func begin(_ group: Set<NotificationName>) {
        groups += 1
        underway.formUnion(group)
    }

    /// - Parameter undone: Those that aren't worth another look before ``lookAgain()``.
    mutating func end(_ group: Set<NotificationName>, undone: Set<NotificationName>) {
        groups -= 1
        underway.subtract(group)
        passedOver.formUnion(undone)
    }

    /// Time has passed.
    mutating func lookAgain() { passedOver = [] }
}
