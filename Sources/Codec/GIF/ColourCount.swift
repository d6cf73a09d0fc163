/// How many colours a picture has, as far as a palette could hold them.
package struct ColourCount: Hashable, Sendable {
    /// Different pixels; nil where there are more than 256. All that are quite transparent are one.
    package let colours: Int?
    /// Whether it has no colour at all; false where that isn't known, because there are more than 256.
    package let isGrey: Bool

    /// Stops at the 257th colour.
    ///
    /// - Parameter channels: 3, or 4 with alpha; `pixels` has whole ones.
    package init(_ pixels: UnsafeBufferPointer<UInt8>, channels: Int) {
        precondition(channels == 3 || channels == 4)
        // Four places for each colour that may come; none is 0, because a bit above the 32 of a pixel is set.
        var table = [UInt64](repeating: 0, count: 1024)
        var count = 0
        var isGrey = true
        var last: UInt64 = 0
        var at = 0
        while at + channels <= pixels.count {
            let (red, green, blue) = unsafe (pixels[at], pixels[at + 1], pixels[at + 2])
            let alpha = channels == 4 ? unsafe pixels[at + 3] : 255
            at += channels
            let colour = UInt64(blue) << 16 | UInt64(green) << 8 | UInt64(red) | UInt64(alpha) << 24
            let entry = 1 << 32 | (alpha == 0 ? 0 : colour)
            if entry == last { continue }
            last = entry
            if red != green || green != blue { isGrey = false }
            var slot = Int(truncatingIfNeeded: (entry &* 0x9E37_79B9_7F4A_7C15) >> 54)
            while table[slot] != 0, table[slot] != entry { slot = (slot + 1) & 1023 }
            if table[slot] == 0 {
                guard count < 256 else {
                    self.colours = nil
                    self.isGrey = false
                    return
                }
                table[slot] = entry
                count += 1
            }
        }
        colours = count
        self.isGrey = isGrey
    }

    /// How often each value is left of a sample by PNG's filters 1, 2 and 4: once what is to its left, above it, or Paeth's
    /// choice is taken off.
    ///
    /// Rows are taken from all over the picture, some 16,384 pixels in all.
    ///
    /// - Parameter width: Of rows of RGB without gaps.
    package static func residuals(_ pixels: UnsafeBufferPointer<UInt8>, width: Int) -> [[Int]] {
        let row = width * 3
        let height = pixels.count / row
        let step = max(1, width * height / 16_384)
        var (lefts, aboves, paeths) = (
            [Int](repeating: 0, count: 256), [Int](repeating: 0, count: 256), [Int](repeating: 0, count: 256)
        )
        for y in stride(from: 0, to: height, by: step) {
            for at in y * row..<(y + 1) * row {
                let value = unsafe pixels[at]
                let isFirst = at < y * row + 3
                let left = isFirst ? 0 : unsafe pixels[at - 3]
                let above = y == 0 ? 0 : unsafe pixels[at - row]
                let corner = isFirst || y == 0 ? 0 : unsafe pixels[at - row - 3]
                lefts[Int(value &- left)] += 1
                aboves[Int(value &- above)] += 1
                paeths[Int(value &- paeth(left, above, corner))] += 1
            }
        }
        return [lefts, aboves, paeths]
    }

    private static func paeth(_ left: UInt8, _ above: UInt8, _ corner: UInt8) -> UInt8 {
        let (a, b, c) = (Int(left), Int(above), Int(corner))
        let (toLeft, toAbove, toCorner) = (abs(b - c), abs(a - c), abs(a + b - 2 * c))
        if toLeft <= toAbove, toLeft <= toCorner { return left }
        return toAbove <= toCorner ? above : corner
    }
}
