import SatchelCore

/// Where parties stand in a line that is kept in memory: see ``FairRank``.
package struct FairLine<Party: Hashable & Sendable>: Sendable {
    /// Parties that are remembered at least.
    private static var memory: Int { 256 }

    private var reached: Int64 = 0
    private var last: [Party: Int64] = [:]

    package init() {}

    /// The rank of something that joins the line.
    package mutating func join(_ party: Party) -> Int64 {
        let rank = FairRank.rank(reached: reached, last: last[party], size: 1)
        last[party] = rank
        return rank
    }

    /// Something of this rank was given out.
    package mutating func advance(past rank: Int64) {
        reached = max(reached, rank)
        // Whoever has nothing beyond stands where a newcomer does.
        if last.count > Self.memory { last = last.filter { $0.value >= reached } }
    }
}
