import SatchelCore
import TestSupport
import Testing

@Suite struct FairRankTests {
    /// A line that gives out the least rank first, and the parties that stand in it.
    private struct Line {
        struct Piece {
            var party: Int
            var rank: Int64
            var order: Int
        }

        var waiting: [Piece] = []
        var reached: Int64 = 0
        var joined = 0

        mutating func join(_ party: Int, size: Int = 1) -> Int64 {
            let rank = FairRank.rank(
                reached: reached, last: waiting.filter { $0.party == party }.map(\.rank).max(), size: size)
            joined += 1
            waiting.append(Piece(party: party, rank: rank, order: joined))
            return rank
        }

        mutating func next() -> Int? {
            let best = waiting.indices.min {
                (waiting[$0].rank, waiting[$0].order) < (waiting[$1].rank, waiting[$1].order)
            }
            guard let best else { return nil }
            let piece = waiting.remove(at: best)
            reached = max(reached, piece.rank)
            return piece.party
        }
    }

    @Test(arguments: [1, 10, 1000])
    func `a newcomer waits for at most one piece of each who was there before`(flood: Int) {
        var line = Line()
        for _ in 0..<flood { for party in 0..<3 { _ = line.join(party) } }
        // Into the middle of the flood.
        for _ in 0..<flood { _ = line.next() }
        _ = line.join(7)
        let before = Array(sequence(state: line) { $0.next() }.prefix { $0 != 7 })
        #expect(before.count <= 3)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `whoever always has something there gets as much as every other, whatever comes beside`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = Line()
        var served: [Int: Int] = [:]
        for party in 0..<4 { for _ in 0..<Int.random(in: 2...200, using: &random) { _ = line.join(party) } }
        for _ in 0..<300 {
            // Others come and go.
            if Bool.random(using: &random) { _ = line.join(Int.random(in: 10...12, using: &random)) }
            guard let party = line.next() else { break }
            served[party, default: 0] += 1
            while line.waiting.count(where: { $0.party == party }) < 2, party < 4 { _ = line.join(party) }
            let shares = (0..<4).map { served[$0, default: 0] }
            #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 2, "seed \(seed): \(shares)")
        }
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `what one party has goes in its order, and the line never goes back`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = Line()
        var ranks: [Int: Int64] = [:]
        for _ in 0..<500 {
            let party = Int.random(in: 0..<3, using: &random)
            let rank = line.join(party, size: Int.random(in: 1...10, using: &random))
            #expect(rank >= ranks[party, default: 0] && rank >= line.reached)
            ranks[party] = rank
            let reached = line.reached
            for _ in 0..<Int.random(in: 0...2, using: &random) { _ = line.next() }
            #expect(line.reached >= reached)
        }
    }

    @Test func `a quarter is kept from bulk work, but never all of it`() {
        #expect([1, 2, 3, 4, 5, 32, 64, 256].map(ReservedPlaces.bulk(of:)) == [1, 1, 2, 3, 3, 24, 48, 192])
    }
}
