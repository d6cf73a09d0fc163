// This folder takes the place of libvips for GIFs, and of its quantiser and its scaling of frames, at the speeds `standard` and
// `fast`: what changes between frames is composed, scaled, given colours and written, and palettes are kept.
//
// Five films and drawings to 320 pixels, in a batch, on Debian 12: 400 ms of the processor's each where `best`, by libvips from the
// first step to the last, takes 2,000; six drawings to 240 pixels on Debian 13: 157 ms, 125 at `fast`, 507 at `best`. `make bench`
// says what it is elsewhere.
//
// At fewer bytes, films are at most 1 dB further from full colour than `best` has them, and 4 dB at `fast`; beside vipsthumbnail
// 0.3 dB in the median and 1.5 at most. Drawings get at most 1.1 of gifsicle's bytes, nearer to full colour than gifsicle's, and
// twice as many at `fast`, which doesn't simplify them: `AnimationFidelityTests` holds it to that. `best`, whose files of drawings
// are three times as large, is up to 20 dB nearer there, and `BestAnimationTests` has it at most 0.35 dB less like any sample.

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
        /// Whether palettes and colours are sought for what they save, whatever time it takes.
        package var isThorough: Bool
        /// Whether a frame may have a palette of its own.
        package var changesPalettes: Bool
        /// The squared error that a frame's own palette has to save for each of its bits.
        var worth: Float = 18

        package init(
            colours: Int, keep: Int32, loss: Int32, enough: Float, isThorough: Bool = true, changesPalettes: Bool = true
        ) {
            self.colours = colours
            self.keep = keep
            self.loss = loss
            self.enough = enough
            self.isThorough = isThorough
            self.changesPalettes = changesPalettes
        }

        /// For a drawing: no palettes but the file's, and strings of LZW as long as goes with so few colours.
        func drawing(enough: Float) -> Settings {
            var settings = self
            settings.worth = .infinity
            settings.enough = max(settings.enough, min(1000, enough))
            settings.loss = max(loss, Int32(min(600, 50 + 12 * settings.enough)))
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

        init(_ colours: [UInt32], isThorough: Bool) {
            self.colours = colours
            search = ColourSearch(colours, isRough: !isThorough)
        }
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
        let drawn = Self.map(
            pixels, changes, width: width, shown: shown, palette: &palettes[current], keep: settings.keep,
            indices: &indices)
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

    // MARK: Drawings

    /// Spends on a drawing of few colours about the bytes that it takes in these colours alone; called before the first picture.
    ///
    /// A tool that keeps the few colours of a file leaves out what edges have between them. That is drawn as far as it takes no
    /// more bytes, which the first picture tells of all: within a tenth for recordings of screens, line art and stickers.
    ///
    /// - Parameters:
    ///   - first: The first picture.
    ///   - mixedFrom: The colours from which it was mixed.
    ///   - averaged: The same picture as the mean of areas makes it.
    ///   - share: Of these bytes.
    package mutating func simplify(
        _ first: [UInt32], changes: RowSpans, mixedFrom: [UInt32], averaged: @autoclosure () -> [UInt32], share: Double
    ) {
        guard let known = Quantiser.distinct(mixedFrom, most: 160), !known.isEmpty, isFlat(first) else { return }
        let given = settings
        settings.loss = 0
        let limit = Float(share) * Float(bytes(of: averaged(), changes, Palette(known, isThorough: true)))
        settings = given.drawing(enough: 12)
        for _ in 0..<2 {
            let part = Float(bytes(of: first, changes, newPalette(for: first, keeping: known))) / limit
            // Bytes fall with about the sixth root, of pictures of all three kinds.
            settings = given.drawing(enough: settings.enough * part * part * part * part * part * part)
        }
    }

    /// Bytes of one picture's pixels.
    private func bytes(of pixels: [UInt32], _ changes: RowSpans, _ palette: Palette) -> Int {
        var trial = GIFEncoder(width: width, height: height, plays: plays, settings: settings)
        trial.settings.changesPalettes = false
        trial.palettes = [palette]
        trial.add(pixels, changes: changes, mixedFrom: [], delay: 0)
        trial.finish()
        return trial.take().count
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
        // The pixel before, which many are like, and what was found for it.
        var (found, index, distance) = (0 as UInt32, 0, 0 as Int32)
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
                if pixel != found {
                    found = pixel
                    index = palette.search.nearest(pixel)
                    distance = ColourSearch.distance(colours[index], pixel)
                }
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
        let (width, palette, indices) = (width, palettes[current].colours, indices)
        var shown = shown.mutableSpan
        for row in 0..<changes.rows {
            for column in changes[row] {
                let at = row &* width &+ column
                let index = indices[at]
                if index != Self.transparent { shown[at] = palette[Int(index)] }
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
            palettes = [newPalette(for: pixels, keeping: known)]
            return true
        }
        guard settings.changesPalettes else { return false }
        let samples = palettes.indices.map {
            Self.sample(pixels, changes, width: width, shown: shown, palette: &palettes[$0])
        }
        // Three bytes for each colour of a palette in a frame.
        let price = settings.worth * 24 * Float(settings.colours)
        if settings.isThorough, samples.count > 1 {
            current = samples[1].error + price < samples[0].error ? 1 : 0
        }
        let (error, count) = samples[current]
        if isEnough(error, for: count, price: price) {
            if current > 0 { localPalettes += 1 }
            return false
        }
        var drawn = pixels
        var known: [UInt32] = []
        if settings.isThorough {
            drawn = []
            for row in 0..<height {
                let columns = changes[row]
                drawn += pixels[row * width + columns.lowerBound..<row * width + columns.upperBound]
            }
        } else {
            // The frames that follow are drawn with it too.
            known = Quantiser.distinct(mixedFrom, most: 256) ?? []
        }
        palettes = [palettes[0], newPalette(for: drawn, keeping: known)]
        current = 1
        localPalettes += 1
        return true
    }

    /// Whether the present palette serves, by the squared errors with it of so many pixels.
    private func isEnough(_ error: Float, for count: Float, price: Float) -> Bool {
        let usual = palettes[palettes.count - 1].usualError
        let wrong: Float = 60
        guard settings.isThorough else {
            // A few pixels count where they are plainly wrong: a caret, a cursor, a lamp.
            return error <= (usual * 1.15 + 1.5) * count
                || error <= wrong * count && count * 64 < Float(width * height)
        }
        // A new one takes time: it is to save an eighth, or what is plainly wrong, whatever that costs.
        return error + (current > 0 ? price : 0) <= usual * 1.125 * count + price
            && error <= (usual * 40 + wrong) * count
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
            of: pixels, keeping: known, count: most, enough: settings.enough, isThorough: settings.isThorough)
        if colours.isEmpty { colours = [0xFF00_0000] }
        return Palette(colours, isThorough: settings.isThorough)
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
            let row = row * width + area.left..<row * width + area.left + area.width
            indices.replaceSubrange(row, with: repeatElement(Self.transparent, count: row.count))
            if !clearing.isEmpty { shown.replaceSubrange(row, with: repeatElement(0, count: row.count)) }
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
        let filled = filledUp(area, &borders, &total)
        guard borders * 6 > total || (borders > 0 && isShorter(filled, area)) else { return }
        indices = filled
    }

    /// The indices with what is shown, as far as the palette has it.
    ///
    /// - Parameters:
    ///   - borders: How many fewer it has between unlike neighbours in a row.
    ///   - total: How many there are without.
    private mutating func filledUp(_ area: Rectangle, _ borders: inout Int, _ total: inout Int) -> [UInt8] {
        var result = indices
        var filled = result.mutableSpan
        let shown = shown
        var colour: UInt32 = 0
        var held = Self.transparent
        for row in area.top..<area.top + area.height {
            let start = row &* width &+ area.left
            var last = filled[start]
            var lastWhole = last
            for at in start..<start &+ area.width {
                let index = filled[at]
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
        return result
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
