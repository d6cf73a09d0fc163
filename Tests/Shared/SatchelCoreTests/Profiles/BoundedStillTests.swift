import TestSupport
import Testing

@testable import SatchelCore

@Suite struct BoundedStillTests {
    static let ways: [BoundedStill] = [
        .jpeg, .png(channels: 3), .png(channels: 4), .palettePNG, .plainWebP(channels: 3), .plainWebP(channels: 4),
    ]

    @Test(arguments: ways)
    func `more pixels never take less, whatever their number`(way: BoundedStill) {
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            let width = Int.random(in: 1...(1 << Int.random(in: 0...16)), using: &generator)
            let height = Int.random(in: 1...(1 << Int.random(in: 0...16)), using: &generator)
            let bytes = way.mostBytes(PixelSize(width: width, height: height))
            #expect(bytes <= way.mostBytes(PixelSize(width: width + 1, height: height)))
            #expect(bytes <= way.mostBytes(PixelSize(width: width, height: height + 1)))
            #expect(bytes > 0)
        }
    }
}
