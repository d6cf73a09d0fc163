import SatchelCore
import TestSupport
import Testing

@Suite struct SigningNumbersTests {
    private let start = Instant(milliseconds: 1_000_000)

    @Test func `a tenant that never rotated has one, which was always there and has no end`() {
        #expect(SigningNumbers().live(at: start) == [SigningNumber(0, createdAt: Instant(milliseconds: 0))])
    }

    @Test func `what is replaced ends after the overlap, and no sooner than it has to`() throws {
        var numbers = SigningNumbers()
        try numbers.rotate(overlap: .seconds(60), at: start)
        let end = start + .seconds(60)
        #expect(
            numbers.live(at: start) == [
                SigningNumber(1, createdAt: start),
                SigningNumber(0, createdAt: Instant(milliseconds: 0), endsAt: end),
            ])
        // A longer overlap doesn't bring it back.
        try numbers.rotate(overlap: .seconds(600), at: start + .seconds(1))
        #expect(numbers.live(at: start + .seconds(1)).map(\.endsAt) == [nil, start + .seconds(601), end])
        #expect(numbers.live(at: end).map(\.number) == [2, 1])
        try numbers.rotate(overlap: .zero, at: end)
        #expect(numbers.live(at: end).map(\.number) == [3])
    }

    @Test func `rotated in any way, one is current, none comes twice, and no more are good than may be`() {
        var generator = SeededGenerator()
        for _ in 0..<200 {
            var (numbers, now) = (SigningNumbers(), start)
            var seen: Set<Int> = [0]
            for _ in 0..<20 {
                now = now + .seconds(Int.random(in: 0...90, using: &generator))
                let before = numbers.live(at: now)
                do throws(AttachmentError) {
                    try numbers.rotate(overlap: .seconds(Int.random(in: -5...300, using: &generator)), at: now)
                    let live = numbers.live(at: now)
                    #expect(
                        live[0].endsAt == nil && live.dropFirst().allSatisfy { $0.endsAt.map { now < $0 } ?? false })
                    #expect(seen.insert(live[0].number).inserted)
                    #expect(Array(live.dropFirst()).map(\.number) == before.prefix(live.count - 1).map(\.number))
                    #expect(live.count <= SigningNumbers.most)
                } catch {
                    #expect(error.code == .quotaExceeded && before.count == SigningNumbers.most)
                    #expect(numbers.live(at: now) == before, "nothing has changed")
                }
            }
        }
    }

    @Test func `they are kept as they are`() throws {
        var numbers = SigningNumbers()
        try numbers.rotate(overlap: .seconds(60), at: start)
        #expect(try JSON.decode(SigningNumbers.self, from: JSON.encode(numbers)) == numbers)
    }
}
