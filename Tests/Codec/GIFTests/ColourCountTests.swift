import GIF
import TestSupport
import Testing

@Suite struct ColourCountTests {
    @Test(arguments: [1, 2, 17, 255, 256, 257, 900])
    func `colours are counted up to 256, and what is quite transparent is one`(colours: Int) {
        var random = SeededGenerator(seed: UInt64(colours))
        let palette = (0..<colours).map { index in
            [
                UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8),
                UInt8.random(in: 0...255, using: &random),
            ]
        }
        for channels in [3, 4] {
            var pixels: [UInt8] = []
            for index in (0..<4 * colours).shuffled(using: &random) {
                pixels += palette[index % colours] + (channels == 4 ? [index < 2 * colours ? 255 : 0] : [])
            }
            let expected = channels == 4 ? colours + 1 : colours
            let count = unsafe pixels.withUnsafeBufferPointer { unsafe ColourCount($0, channels: channels) }
            #expect(count.colours == (expected <= 256 ? expected : nil))
        }
    }

    @Test func `a picture is grey where each of its few colours is`() {
        let greys = (0..<200).flatMap { value in [UInt8](repeating: UInt8(value), count: 3) }
        #expect(unsafe greys.withUnsafeBufferPointer { unsafe ColourCount($0, channels: 3).isGrey })
        let tinted = greys + [4, 5, 4]
        #expect(unsafe !tinted.withUnsafeBufferPointer { unsafe ColourCount($0, channels: 3).isGrey })
    }
}
