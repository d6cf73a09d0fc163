/// Makes a GIF of pictures that are given one after the other.
///
/// Only what differs from what is shown is drawn. A frame is written when the next one is known, because only then is it
/// known whether it must be cleared when its time is over.
package struct GIFEncoder {
    /// What fidelity is worth.
    package struct Settings: Hashable, Sendable {
        /// At most 255, beside the transparent one.
        package var colours: Int
        /// The squared distance in RGB up to which a pixel stays as it is.
        package var keep: Int32
        /// The squared distance up to which a drawn pixel may take a neighbour's place for the sake of bytes.
        package var loss: Int32
        /// The mean squared error at which further colours are not worth their bytes.
        package var enough: Float

        /// Whether a frame may have a palette of its own.
        package var changesPalettes: Bool

        package init(colours: Int, keep: Int32, loss: Int32, enough: Float, changesPalettes: Bool = true) {
            self.colours = colours
            self.enough = enough
            self.changesPalettes = changesPalettes
            self.keep = keep
            self.loss = loss
        }
    }

    /// Frames that were drawn with another palette than the first one.
    package private(set) var localPalettes = 0

    private let width: Int
    private let height: Int
    private let plays: Int
    private let settings: Settings
    private var writer = GIFWriter()
    private var codes = LZWEncoder()

    /// What the canvas shows by now.
    private var shown: [UInt32]
    /// What the pending frame draws; the transparent index elsewhere.
    private var indices: [UInt8]
    /// Which index of the palette shows what is shown; the transparent one where none does.
    private var held: [UInt8]
    private var pending: Pending?

    private var palette: [UInt32] = []
    private var globalPalette: [UInt32] = []
    private var search = ColourSearch([0xFF00_0000])
    /// The mean squared error that the palette had where it was chosen.
    private var usualError: Float = 0

    private struct Pending {
        var area: Rectangle
        var delay: Int
    }

    private static let transparent: UInt8 = 255

    package init(width: Int, height: Int, plays: Int, settings: Settings) {
        self.width = width
        self.height = height
        self.plays = plays
        self.settings = settings
        shown = Array(repeating: 0, count: width * height)
        indices = Array(repeating: Self.transparent, count: width * height)
        held = indices
    }

    /// Bytes of such a GIF at the most, where no frame has a palette of its own, whatever its pixels are.
    package static func bound(width: Int, height: Int, frames: Int) -> Int {
        let codes = LZWEncoder.bound(pixels: width * height)
        // Blocks of 255 with their lengths; the frame's control, place and end.
        return 1024 + frames * (codes + codes / 255 + 24)
    }

    /// Takes what is written by now.
    package mutating func take() -> [UInt8] { writer.take() }

    /// Adds a picture.
    ///
    /// - Parameters:
    ///   - pixels: As a ``Canvas`` has them, with any alpha: what is less than half opaque is transparent.
    ///   - changes: Where it can differ from the one before.
    ///   - mixedFrom: The colours from which it was mixed; none where that is not known.
    ///   - delay: Hundredths of a second, at most 65,535.
    package mutating func add(_ pixels: [UInt32], changes: RowSpans, mixedFrom: [UInt32], delay: Int) {
        var changes = changes
        let cleared = finishPending(clearing: disappearing(pixels, changes))
        for row in cleared.top..<cleared.top + cleared.height {
            changes.add(cleared.left..<cleared.left + cleared.width, in: row)
        }
        if palette.isEmpty { choosePalette(for: pixels, mixedFrom: mixedFrom) }
        var drawn = map(pixels, changes)
        if isWorse(drawn) {
            choosePalette(for: pixels, mixedFrom: mixedFrom)
            localPalettes += 1
            drawn = map(pixels, changes)
        }
        if usualError < 0, drawn.count > 0 { usualError = drawn.error }
        draw(changes)
        var area = drawn.area
        if globalPalette.isEmpty {
            // Not every player takes a first frame that is smaller than the screen.
            area = Rectangle(left: 0, top: 0, width: width, height: height)
            globalPalette = palette
            writer.begin(width: width, height: height, palette: palette + [0], plays: plays)
        }
        if area.isEmpty { area = Rectangle(left: 0, top: 0, width: 1, height: 1) }
        pending = Pending(area: area, delay: delay)
    }

    /// Shows the last picture for longer, by a frame that changes nothing.
    ///
    /// - Parameter delay: Hundredths of a second, at most 65,535.
    package mutating func addPause(_ delay: Int) {
        _ = finishPending(clearing: .none)
        pending = Pending(area: Rectangle(left: 0, top: 0, width: 1, height: 1), delay: delay)
    }

    /// Writes what is still pending.
    package mutating func finish() {
        _ = finishPending(clearing: .none)
        writer.end()
    }

    // MARK: What is drawn

    /// Where something is shown that a picture doesn't have.
    private func disappearing(_ pixels: [UInt32], _ changes: RowSpans) -> Rectangle {
        var area = Rectangle.none
        for row in 0..<height {
            var first = Int.max
            var last = -1
            for column in changes[row] where pixels[row * width + column] >> 24 < 128 {
                guard shown[row * width + column] != 0 else { continue }
                if first == .max { first = column }
                last = column
            }
            guard last >= 0 else { continue }
            area = area.joined(with: Rectangle(left: first, top: row, width: last - first + 1, height: 1))
        }
        return area
    }

    private struct Drawn {
        var area = Rectangle.none
        var count = 0
        /// The mean squared error of what is drawn, or is not because the palette has nothing better.
        var error: Float = 0
    }

    /// Finds an index for each pixel that has to be drawn.
    private mutating func map(_ pixels: [UInt32], _ changes: RowSpans) -> Drawn {
        Self.map(
            pixels, changes, width: width, shown: shown, colours: palette, keep: settings.keep, search: &search,
            indices: &indices)
    }

    private static func map(
        _ pixels: [UInt32], _ changes: RowSpans, width: Int, shown: [UInt32], colours: [UInt32], keep: Int32,
        search: inout ColourSearch, indices: inout [UInt8]
    ) -> Drawn {
        var drawn = Drawn()
        var error = 0
        let pixels = pixels.span
        let colours = colours.span
        let shown = shown.span
        var indices = indices.mutableSpan
        for row in 0..<changes.rows {
            var first = Int.max
            var last = -1
            for column in changes[row] {
                let at = row &* width &+ column
                indices[at] = transparent
                guard pixels[at] &>> 24 >= 128 else { continue }
                let pixel = pixels[at] | 0xFF00_0000
                let old = shown[at]
                let unchanged: Int32 = old == 0 ? .max : ColourSearch.distance(old, pixel)
                if unchanged <= keep { continue }
                let index = search.nearest(pixel)
                let distance = ColourSearch.distance(colours[index], pixel)
                error &+= Int(min(unchanged, distance))
                drawn.count &+= 1
                if unchanged <= distance { continue }
                indices[at] = UInt8(truncatingIfNeeded: index)
                if first == .max { first = column }
                last = column
            }
            guard last >= 0 else { continue }
            drawn.area = drawn.area.joined(with: Rectangle(left: first, top: row, width: last - first + 1, height: 1))
        }
        drawn.error = drawn.count == 0 ? 0 : Float(error) / Float(drawn.count)
        return drawn
    }

    private mutating func draw(_ changes: RowSpans) {
        for row in 0..<height {
            for column in changes[row] {
                let index = indices[row * width + column]
                guard index != Self.transparent else { continue }
                shown[row * width + column] = palette[Int(index)]
                held[row * width + column] = index
            }
        }
    }

    // MARK: Palettes

    /// Whether a palette of its own would pay for what is drawn.
    private func isWorse(_ drawn: Drawn) -> Bool {
        guard settings.changesPalettes, usualError >= 0, drawn.error > usualError * 1.15 + 1.5 else { return false }
        // A few pixels count where they are plainly wrong: a caret, a cursor, a lamp.
        return drawn.error > 60 || (drawn.count >= 16 && drawn.count * 64 >= width * height)
    }

    /// Colours for a picture; those that it was mixed from count too, because other frames need them.
    private mutating func choosePalette(for pixels: [UInt32], mixedFrom: [UInt32]) {
        let most = min(settings.colours, Int(Self.transparent))
        let known = Quantiser.distinct(mixedFrom, most: 256) ?? []
        palette = Quantiser.palette(of: pixels, keeping: known, count: most, enough: settings.enough)
        if palette.isEmpty { palette = [0xFF00_0000] }
        search = ColourSearch(palette)
        usualError = -1
        for at in shown.indices { held[at] = search.exactly(shown[at]).map { UInt8($0) } ?? Self.transparent }
    }

    // MARK: Writing

    /// Writes the pending frame.
    ///
    /// - Parameter clearing: What of the canvas must be transparent afterwards.
    /// - Returns: What is transparent now because of it.
    private mutating func finishPending(clearing: Rectangle) -> Rectangle {
        guard let pending else { return .none }
        self.pending = nil
        let area = pending.area.joined(with: clearing)
        fillUp(area)
        let isLocal = palette != globalPalette
        let used = isLocal ? usedIndices(area) : palette.indices.map { $0 }
        let source = source(of: area, used)
        codes.encode(indices, shown: &shown, held: &held, source)
        writer.write(
            GIFWriter.Frame(
                area: area, delay: pending.delay, disposal: clearing.isEmpty ? 1 : 2, transparent: used.count,
                palette: isLocal ? used.map { palette[$0] } + [0] : nil, codeSize: source.codeSize),
            codes: codes.bytes, count: codes.count)
        for row in area.top..<area.top + area.height {
            for at in row * width + area.left..<row * width + area.left + area.width {
                indices[at] = Self.transparent
                if !clearing.isEmpty {
                    shown[at] = 0
                    held[at] = Self.transparent
                }
            }
        }
        return clearing.isEmpty ? .none : area
    }

    /// - Parameter used: Indices of the palette that are written.
    private func source(of area: Rectangle, _ used: [Int]) -> LZWEncoder.Source {
        var written = [UInt8](repeating: 0, count: 256)
        var colours = [UInt32](repeating: 0, count: 256)
        for (place, index) in used.enumerated() {
            written[index] = UInt8(place)
            colours[place] = palette[index]
        }
        written[Int(Self.transparent)] = UInt8(used.count)
        return LZWEncoder.Source(
            width: width, area: area, written: written, colours: colours,
            indices: used.map { UInt8($0) } + [Self.transparent],
            codeSize: max(2, GIFWriter.bits(used.count + 1)), loss: settings.loss)
    }

    /// Draws what is shown already where that has far fewer borders than what is new has alone, or few fewer and, in a
    /// part that is tried, fewer bytes.
    private mutating func fillUp(_ area: Rectangle) {
        var borders = 0
        var total = 0
        for row in area.top..<area.top + area.height {
            let start = row * width + area.left
            var last = indices[start]
            var lastWhole = last == Self.transparent ? held[start] : last
            for at in start..<start + area.width {
                let index = indices[at]
                let whole = index == Self.transparent ? held[at] : index
                if index != last {
                    borders += 1
                    total += 1
                }
                if whole != lastWhole { borders -= 1 }
                last = index
                lastWhole = whole
            }
        }
        guard borders * 6 > total || (borders > 0 && isShorterFilled(area)) else { return }
        fill(&indices, area)
    }

    private func fill(_ indices: inout [UInt8], _ area: Rectangle) {
        for row in area.top..<area.top + area.height {
            for at in row * width + area.left..<row * width + area.left + area.width
            where indices[at] == Self.transparent { indices[at] = held[at] }
        }
    }

    /// Compresses an eighth of an area, from the middle, both ways: line art, in which what changes is strewn over what
    /// stays, has 13 % fewer bytes filled up, and no count of borders tells it from other pictures.
    private mutating func isShorterFilled(_ area: Rectangle) -> Bool {
        let rows = (area.height + 7) / 8
        let part = Rectangle(
            left: area.left, top: area.top + (area.height - rows) / 2, width: area.width, height: rows)
        let source = source(of: part, Array(palette.indices))
        var filled = indices
        fill(&filled, part)
        let counts = [indices, filled].map { indices in
            var (shown, held) = (shown, held)
            codes.encode(indices, shown: &shown, held: &held, source)
            return codes.count
        }
        return counts[1] < counts[0]
    }

    private func usedIndices(_ area: Rectangle) -> [Int] {
        var isUsed = [Bool](repeating: false, count: 256)
        for row in area.top..<area.top + area.height {
            for at in row * width + area.left..<row * width + area.left + area.width {
                isUsed[Int(indices[at])] = true
            }
        }
        return palette.indices.filter { isUsed[$0] }
    }
}
