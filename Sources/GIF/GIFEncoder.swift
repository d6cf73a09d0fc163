/// Makes a GIF of pictures that are given one after the other.
///
/// Only what differs from what is shown is drawn. A frame is written when the next one is known, because only then is it
/// known whether it must be cleared when its time is over.
package struct GIFEncoder {
    /// What fidelity is worth.
    package struct Settings: Hashable, Sendable {
        /// At most 255, beside the transparent one.
        package var colours: Int
        /// By how much the squared distance in RGB from what is wanted may grow where a pixel stays as it is.
        package var keep: Int32
        /// By how much it may grow where a pixel takes another index for the sake of bytes.
        package var loss: Int32
        /// The mean squared error at which further colours are not worth their bytes.
        package var enough: Float
        /// The squared error that a frame's own palette has to save for each of its bits.
        package var worth: Float
        /// The mean squared error that is plainly wrong, whatever another palette costs.
        package var wrong: Float = 60
        /// How palettes are sought.
        package var effort: Quantiser.Effort
        /// Whether drawings of few colours get few: what their edges have between them is a matter of taste, and of bytes.
        package var simplifies: Bool
        /// Whether a frame may have a palette of its own.
        package var changesPalettes: Bool

        package init(
            colours: Int, keep: Int32, loss: Int32, enough: Float, worth: Float, effort: Quantiser.Effort = .thorough,
            simplifies: Bool = true, changesPalettes: Bool = true
        ) {
            self.colours = colours
            self.keep = keep
            self.loss = loss
            self.enough = enough
            self.worth = worth
            self.effort = effort
            self.simplifies = simplifies
            self.changesPalettes = changesPalettes
        }

        /// For a drawing whose file has so many colours; measured with recordings of screens, line art and stickers.
        ///
        /// A tool that keeps the few colours of a file leaves out what edges have between them. Of a file of 2 to 16 so much
        /// of that is drawn as takes no more bytes.
        func simplified(colours count: Int) -> Settings {
            var settings = self
            let count = Float(max(2, count))
            settings.worth = .infinity
            guard count <= 20 else {
                settings.enough = max(enough, 12)
                settings.loss = max(loss, 100)
                return settings
            }
            settings.enough = max(enough, 500 / count + 2000 / (count * count))
            settings.loss = max(loss, 600)
            // Its colours are all in the first palette; what is further off comes from elsewhere.
            settings.wrong = 1500
            return settings
        }
    }

    /// Frames that were drawn with another palette than the first one.
    package private(set) var localPalettes = 0

    private let width: Int
    private let height: Int
    private let plays: Int
    private var settings: Settings
    private var writer = GIFWriter()
    private var codes = LZWEncoder()

    /// What the canvas shows by now, and what it ought to.
    private var shown: [UInt32]
    private var wanted: [UInt32] = []
    /// What the pending frame draws; the transparent index elsewhere.
    private var indices: [UInt8]
    private var pending: Pending?

    /// The file's, and behind it the last one that a frame had of its own.
    private var palettes: [Palette] = []
    /// Which of them the frame is drawn with.
    private var current = 0

    private struct Palette {
        var colours: [UInt32]
        var search: ColourSearch
        /// The mean squared error where it was chosen.
        var usualError: Float = 0
    }

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
        let isFirst = palettes.isEmpty
        let isNew = choosePalette(for: pixels, changes, mixedFrom: mixedFrom)
        let drawn = map(pixels, changes)
        if isNew, drawn.count > 0 { palettes[current].usualError = drawn.error }
        draw(changes)
        wanted = pixels
        var area = drawn.area
        if isFirst {
            // Not every player takes a first frame that is smaller than the screen.
            area = Rectangle(left: 0, top: 0, width: width, height: height)
            writer.begin(width: width, height: height, palette: palettes[0].colours + [0], plays: plays)
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
            pixels, changes, width: width, shown: shown, palette: &palettes[current], keep: settings.keep,
            indices: &indices)
    }

    private static func map(
        _ pixels: [UInt32], _ changes: RowSpans, width: Int, shown: [UInt32], palette: inout Palette, keep: Int32,
        indices: inout [UInt8]
    ) -> Drawn {
        var drawn = Drawn()
        var error = 0
        let pixels = pixels.span
        let list = palette.colours
        let colours = list.span
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
                if unchanged == 0 { continue }
                let index = palette.search.nearest(pixel)
                let distance = ColourSearch.distance(colours[index], pixel)
                error &+= Int(min(unchanged, distance))
                drawn.count &+= 1
                if unchanged <= distance &+ keep { continue }
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
        let palette = palettes[current].colours
        for row in 0..<height {
            for column in changes[row] {
                let index = indices[row * width + column]
                guard index != Self.transparent else { continue }
                shown[row * width + column] = palette[Int(index)]
            }
        }
    }

    // MARK: Palettes

    /// Chooses the palette for a picture: the file's, the last other one, or a new one, by what each saves and costs.
    ///
    /// - Returns: Whether it is new.
    private mutating func choosePalette(for pixels: [UInt32], _ changes: RowSpans, mixedFrom: [UInt32]) -> Bool {
        if palettes.isEmpty {
            let known = Quantiser.distinct(mixedFrom, most: 256) ?? []
            if settings.simplifies, 1...160 ~= known.count, isFlat(pixels) {
                settings = settings.simplified(colours: known.count)
            }
            palettes = [newPalette(for: pixels, keeping: known)]
            return true
        }
        guard settings.changesPalettes else { return false }
        // Three bytes for each colour of a palette in a frame.
        let price = settings.worth * 24 * Float(settings.colours)
        let samples = palettes.indices.map {
            Self.sample(pixels, changes, width: width, shown: shown, palette: &palettes[$0])
        }
        current = samples.count > 1 && samples[1].error + price < samples[0].error ? 1 : 0
        let (error, count) = samples[current]
        let usual = palettes[palettes.count - 1].usualError
        // A new one takes time: it is to save an eighth, or what is plainly wrong, were it a caret or a lamp.
        let isWorse = error + (current > 0 ? price : 0) > usual * 1.125 * count + price
        guard isWorse || error > (usual * 40 + settings.wrong) * count else {
            if current > 0 { localPalettes += 1 }
            return false
        }
        var drawn: [UInt32] = []
        for row in 0..<height {
            let columns = changes[row]
            drawn += pixels[row * width + columns.lowerBound..<row * width + columns.upperBound]
        }
        palettes = [palettes[0], newPalette(for: drawn, keeping: [])]
        current = 1
        localPalettes += 1
        return true
    }

    /// Whether most pixels are like their neighbours, as in drawings and on screens.
    private func isFlat(_ pixels: [UInt32]) -> Bool {
        var count = 0
        for at in 1..<max(1, pixels.count) where pixels[at] == pixels[at - 1] { count += 1 }
        return count * 2 > pixels.count
    }

    /// Squared errors, all together, and how many pixels have to be drawn: by every eighth one.
    private static func sample(
        _ pixels: [UInt32], _ changes: RowSpans, width: Int, shown: [UInt32], palette: inout Palette
    ) -> (error: Float, count: Float) {
        var error = 0
        var count = 0
        for row in 0..<changes.rows {
            let columns = changes[row]
            for column in stride(from: columns.lowerBound + (row &* 3 & 7), to: columns.upperBound, by: 8) {
                let at = row &* width &+ column
                guard pixels[at] &>> 24 >= 128 else { continue }
                let pixel = pixels[at] | 0xFF00_0000
                let old = shown[at]
                let unchanged: Int32 = old == 0 ? .max : ColourSearch.distance(old, pixel)
                if unchanged == 0 { continue }
                let found = palette.colours[palette.search.nearest(pixel)]
                error &+= Int(min(unchanged, ColourSearch.distance(found, pixel)))
                count &+= 1
            }
        }
        return (Float(error) * 8, Float(count) * 8)
    }

    /// - Parameter known: Colours that it was mixed from, which other frames need.
    private func newPalette(for pixels: [UInt32], keeping known: [UInt32]) -> Palette {
        let most = min(settings.colours, Int(Self.transparent))
        var colours = Quantiser.palette(
            of: pixels, keeping: known, count: most, enough: settings.enough, effort: settings.effort)
        if colours.isEmpty { colours = [0xFF00_0000] }
        return Palette(colours: colours, search: ColourSearch(colours))
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
        let palette = palettes[current].colours
        let used = current > 0 ? usedIndices(area) : Array(palette.indices)
        let source = source(of: area, used)
        codes.encode(&indices, shown: &shown, source)
        writer.write(
            GIFWriter.Frame(
                area: area, delay: pending.delay, disposal: clearing.isEmpty ? 1 : 2, transparent: used.count,
                palette: current > 0 ? used.map { palette[$0] } + [0] : nil, codeSize: source.codeSize),
            codes: codes.bytes, count: codes.count)
        for row in area.top..<area.top + area.height {
            for at in row * width + area.left..<row * width + area.left + area.width {
                indices[at] = Self.transparent
                if !clearing.isEmpty {
                    shown[at] = 0
                }
            }
        }
        return clearing.isEmpty ? .none : area
    }

    /// - Parameter used: Indices of the palette that are written.
    private func source(of area: Rectangle, _ used: [Int]) -> LZWEncoder.Source {
        let palette = palettes[current].colours
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
            codeSize: max(2, GIFWriter.bits(used.count + 1)), loss: settings.loss, wanted: wanted)
    }

    /// Draws what is shown already where that has far fewer borders than what is new has alone, or few fewer and, in a
    /// part that is tried, fewer bytes.
    private mutating func fillUp(_ area: Rectangle) {
        var borders = 0
        var total = 0
        var filled = indices
        var colour: UInt32 = 0
        var held = Self.transparent
        for row in area.top..<area.top + area.height {
            let start = row * width + area.left
            var last = indices[start]
            var lastWhole = last
            for at in start..<start + area.width {
                let index = indices[at]
                if index == Self.transparent {
                    if shown[at] != colour {
                        colour = shown[at]
                        let found = colour == 0 ? nil : palettes[current].search.exactly(colour)
                        held = found.map { UInt8(truncatingIfNeeded: $0) } ?? Self.transparent
                    }
                    filled[at] = held
                }
                let whole = filled[at]
                if index != last {
                    borders += 1
                    total += 1
                }
                if whole != lastWhole, at > start { borders -= 1 }
                last = index
                lastWhole = whole
            }
        }
        guard borders * 6 > total || (borders > 0 && isShorter(filled, area)) else { return }
        indices = filled
    }

    /// Compresses an eighth of an area, from the middle, both ways: line art, in which what changes is strewn over what
    /// stays, has 13 % fewer bytes filled up, and no count of borders tells it from other pictures.
    private mutating func isShorter(_ filled: [UInt8], _ area: Rectangle) -> Bool {
        let rows = (area.height + 7) / 8
        let part = Rectangle(
            left: area.left, top: area.top + (area.height - rows) / 2, width: area.width, height: rows)
        let source = source(of: part, Array(palettes[current].colours.indices))
        let counts = [indices, filled].map { indices in
            var (indices, shown) = (indices, shown)
            codes.encode(&indices, shown: &shown, source)
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
        return palettes[current].colours.indices.filter { isUsed[$0] }
    }
}
