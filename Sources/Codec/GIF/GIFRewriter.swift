/// Writes a GIF's frames anew without changing a pixel that is shown: the same palettes, places and disposal, but only
/// what differs from what was shown before, and without what lies outside of the region that is kept.
package struct GIFRewriter {
    private let region: Rectangle
    private let globalPalette: [UInt32]
    private var writer = GIFWriter()
    private var codes = LZWEncoder()
    private var isFirst = true
    /// Of the global palette, what is seen somewhere.
    private var isSeen = [Bool](repeating: false, count: 256)

    /// - Parameters:
    ///   - region: The part of the screen that is kept.
    ///   - palette: The file's; none where each frame has its own.
    package init(region: Rectangle, palette: [UInt32], plays: Int) {
        self.region = region
        globalPalette = palette
        writer.begin(width: region.width, height: region.height, palette: palette, plays: plays)
    }

    /// Takes what is written by now.
    package mutating func take() -> [UInt8] { writer.take() }

    package mutating func finish() { writer.end() }

    /// Where the global palette lies in the file, and what is to stand there when all frames are in: its colours, without
    /// those that are never seen; empty where there is none.
    package var seenPalette: (offset: Int, bytes: [UInt8]) {
        (GIFWriter.paletteOffset, GIFWriter.bytes(of: Self.seen(globalPalette, isSeen)))
    }

    private static func seen(_ palette: [UInt32], _ isSeen: [Bool]) -> [UInt32] {
        zip(palette, isSeen).map { $1 ? $0 : 0 }
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - indices: As they are stored.
    ///   - palette: The colours that hold for it, at most 256.
    ///   - canvas: What is shown when the frame is drawn.
    ///   - delay: Hundredths of a second.
    package mutating func add(
        _ frame: GIFFile.Frame, indices: [UInt8], palette: [UInt32], over canvas: borrowing Canvas, delay: Int
    ) {
        var visible = frame.area.clipped(to: region).clipped(width: canvas.width, height: canvas.height)
        var stays = frame.disposal < 2
        if visible.isEmpty {
            // Nothing of it is seen, and nothing of what becomes of it.
            visible = Rectangle(left: region.left, top: region.top, width: 1, height: 1)
            stays = true
        }
        let stored = Picture(frame, indices, palette, visible, canvas)
        var picture = stored
        if stays, !isFirst { picture.crop() }
        let cropped = picture
        picture.thin()
        isFirst = false
        let isGlobal = frame.palette == nil || palette == globalPalette
        var codes = encoded(&picture, width: visible.width)
        // Borders are a guess at what codes take: the file's own choice may be better.
        for other in [cropped, stored] where codes.bytes.count > frame.end - frame.data {
            var other = other
            let others = encoded(&other, width: visible.width)
            if others.bytes.count < codes.bytes.count { (picture, codes) = (other, others) }
        }
        var isSeenHere = [Bool](repeating: false, count: 256)
        for index in picture.indices { isSeenHere[Int(index)] = true }
        if let transparent = picture.transparent { isSeenHere[transparent] = false }
        let ownPalette = isGlobal && !globalPalette.isEmpty ? nil : Self.seen(palette, isSeenHere)
        if ownPalette == nil {
            for index in isSeen.indices where isSeenHere[index] { isSeen[index] = true }
        }
        writer.write(
            GIFWriter.Frame(
                area: Rectangle(
                    left: visible.left - region.left + picture.area.left,
                    top: visible.top - region.top + picture.area.top, width: picture.area.width,
                    height: picture.area.height),
                delay: delay, disposal: stays ? min(frame.disposal, 1) : frame.disposal,
                transparent: picture.transparent,
                // A file without a palette of its own is drawn in black and white.
                palette: ownPalette, codeSize: codes.size),
            codes: codes.bytes, count: codes.bytes.count)
    }

    /// - Returns: The size of the first codes, and all of them.
    private mutating func encoded(_ picture: inout Picture, width: Int) -> (size: Int, bytes: [UInt8]) {
        // Equal colours may take each other's places.
        let size = picture.codeSize
        codes.encode(
            &picture.indices, shown: &picture.shown,
            LZWEncoder.Source(
                width: width, area: picture.area, written: Self.identity, colours: picture.colours,
                indices: Self.identity, codeSize: size, loss: 0, wanted: picture.shown))
        return (size, Array(codes.bytes.prefix(codes.count)))
    }

    private static let identity = (0...255).map { UInt8($0) }

    /// The visible part of a frame, row after row.
    private struct Picture {
        var indices: [UInt8]
        /// What is shown once it is drawn.
        var shown: [UInt32]
        /// By index; 0 for the transparent one.
        var colours: [UInt32]
        var transparent: Int?
        /// Inside of the visible part.
        var area: Rectangle
        /// Pixels that are as they were.
        private var isSame: [Bool]
        /// Of a row of the visible part.
        private let width: Int

        init(
            _ frame: GIFFile.Frame, _ stored: [UInt8], _ palette: [UInt32], _ visible: Rectangle,
            _ canvas: borrowing Canvas
        ) {
            colours = palette + Array(repeating: 0, count: 256 - palette.count)
            transparent = frame.transparent.map(Int.init)
            if let transparent { colours[transparent] = 0 }
            area = Rectangle(left: 0, top: 0, width: visible.width, height: visible.height)
            width = visible.width
            let count = visible.width * visible.height
            indices = Array(repeating: 0, count: count)
            shown = Array(repeating: 0, count: count)
            isSame = Array(repeating: false, count: count)
            let isInside = !frame.area.clipped(to: visible).isEmpty
            var at = 0
            for row in visible.top..<visible.top + visible.height {
                let line = row - frame.area.top
                let place = frame.isInterlaced ? Interlacing.storedRow(line, height: frame.area.height) : line
                for column in visible.left..<visible.left + visible.width {
                    let before = canvas.pixels[row * canvas.width + column]
                    let index =
                        isInside ? stored[place * frame.area.width + column - frame.area.left] : frame.transparent ?? 0
                    let colour = isInside ? colours[Int(index)] : 0
                    indices[at] = index
                    shown[at] = colour == 0 ? before : colour
                    isSame[at] = colour == 0 || colour == before
                    at += 1
                }
            }
            chooseTransparent(palette.count)
        }

        /// Any index that no changed pixel has can be the transparent one. Pixels of colours that the palette doesn't have
        /// show what was there, as in browsers, and get it too.
        private mutating func chooseTransparent(_ count: Int) {
            if let index = transparent, index >= count, !indices.contains(UInt8(index)) { transparent = nil }
            if transparent == nil {
                var isUsed = [Bool](repeating: false, count: 256)
                var isNeeded = false
                var isForced = false
                for (index, same) in zip(indices, isSame) {
                    if !same { isUsed[Int(index)] = true }
                    isNeeded = isNeeded || same
                    isForced = isForced || Int(index) >= count
                }
                // One beyond the palette would take a bit more for each pixel.
                guard isNeeded, let free = isUsed.firstIndex(of: false), free < count || isForced else { return }
                transparent = free
            }
            guard let transparent else { return }
            let index = UInt8(truncatingIfNeeded: transparent)
            // What it showed before it became the transparent one stays as it is.
            colours[transparent] = 0
            for at in indices.indices where colours[Int(indices[at])] == 0 { indices[at] = index }
        }

        /// Bits of the indices that are there: a palette may have colours that a frame doesn't.
        var codeSize: Int {
            var most: UInt8 = 0
            for row in area.top..<area.top + area.height {
                let start = row * width + area.left
                for at in start..<start + area.width { most = max(most, indices[at]) }
            }
            return max(2, GIFWriter.bits(Int(most) + 1))
        }

        /// Keeps only the smallest part that holds all changed pixels.
        mutating func crop() {
            var changed = Rectangle.none
            for row in 0..<area.height {
                let line = row * width..<(row + 1) * width
                guard let first = line.first(where: { !isSame[$0] }), let last = line.last(where: { !isSame[$0] })
                else { continue }
                changed = changed.joined(
                    with: Rectangle(left: first - line.lowerBound, top: row, width: last - first + 1, height: 1))
            }
            // At least one pixel, which is drawn as it was where no index is transparent.
            area = changed.isEmpty ? Rectangle(left: 0, top: 0, width: 1, height: 1) : changed
        }

        /// Leaves unchanged pixels away where that gives fewer borders.
        mutating func thin() {
            guard let transparent else { return }
            let clear = UInt8(truncatingIfNeeded: transparent)
            var borders = 0
            for row in area.top..<area.top + area.height {
                let start = row * width + area.left
                for at in start + 1..<max(start + 1, start + area.width) {
                    let before = isSame[at - 1] ? clear : indices[at - 1]
                    let thinned = isSame[at] ? clear : indices[at]
                    if indices[at] != indices[at - 1] { borders += 1 }
                    if before != thinned { borders -= 1 }
                }
            }
            guard borders > 0 else { return }
            for at in indices.indices where isSame[at] { indices[at] = clear }
        }
    }
}
