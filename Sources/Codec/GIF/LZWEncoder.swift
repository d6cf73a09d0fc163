/// GIF's compression.
///
/// Where a string of the dictionary doesn't go on with a pixel's index, it may go on with another one that shows the same,
/// or nearly the same: a pixel that stays as it is can be transparent or drawn again.
struct LZWEncoder {
    /// A frame as indices, and what they will have shown.
    struct Source {
        /// As wide as the canvas.
        var width: Int
        var area: Rectangle
        /// What each index is written as.
        var written: [UInt8]
        /// By what is written; 0 for the transparent one.
        var colours: [UInt32]
        /// Which index is written so.
        var indices: [UInt8]
        /// Bits of what is written, 2…8.
        var codeSize: Int
        /// By how much the squared distance to what is wanted may grow for the sake of bytes.
        var loss: Int32
        /// What the canvas ought to show.
        var wanted: [UInt32]
    }

    /// The codes, without the lengths of blocks.
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    /// By prefix and pixel: 20 bits of both, 12 of the code.
    private var table = [UInt32](repeating: 0, count: Self.slots)
    private var children = [UInt16](repeating: 0, count: 4096)
    private var siblings = [UInt16](repeating: 0, count: 4096)
    private var suffixes = [UInt8](repeating: 0, count: 4096)

    private static let slots = 1 << 14
    /// Other continuations that are looked at.
    private static let mostChildren = 24
    /// Bytes that the codes of so many pixels take at the most: 12 bits for each, and clear codes, of which one comes for
    /// some 3,800 codes at the least.
    static func bound(pixels: Int) -> Int { pixels * 3 / 2 + pixels / 2048 + 16 }

    /// - Parameters:
    ///   - indices: Where another index took one's place, it is noted.
    ///   - shown: What the canvas will show; what another index changes of it is noted.
    mutating func encode(_ indices: inout [UInt8], shown: inout [UInt32], _ source: Source) {
        let area = source.area
        let room = Self.bound(pixels: area.width * area.height)
        if bytes.count < room { bytes = Array(repeating: 0, count: room) }
        var writer = CodeWriter(codeSize: source.codeSize)
        writer.put(writer.clear, &bytes)
        forget()
        var indices = indices.mutableSpan
        let written = source.written.span
        let colours = source.colours.span
        let originals = source.indices.span
        let wanted = source.wanted.span
        var shown = shown.mutableSpan
        var dictionary = DictionaryUse()
        var string = -1
        for row in area.top..<area.top + area.height {
            let start = row &* source.width &+ area.left
            for at in start..<start &+ area.width {
                let pixel = Int(written[Int(indices[at])])
                guard string >= 0 else {
                    string = pixel
                    continue
                }
                let key = UInt32(truncatingIfNeeded: string &<< 8 | pixel)
                var slot = Self.slot(key)
                while table[slot] != 0, table[slot] &>> 12 != key { slot = (slot &+ 1) & (Self.slots &- 1) }
                if table[slot] != 0 {
                    string = Int(table[slot] & 0xFFF)
                    continue
                }
                if let other = alternative(
                    after: string, to: shown[at], wanted[at], colours: colours, pixel, source.loss)
                {
                    string = other.code
                    shown[at] = colours[other.pixel]
                    indices[at] = originals[other.pixel]
                    continue
                }
                writer.put(string, &bytes)
                if writer.next < 4096 {
                    let code = writer.next
                    table[slot] = key &<< 12 | UInt32(truncatingIfNeeded: code)
                    suffixes[code] = UInt8(truncatingIfNeeded: pixel)
                    siblings[code] = children[string]
                    children[code] = 0
                    children[string] = UInt16(truncatingIfNeeded: code)
                    writer.advance()
                }
                if writer.next == 4096,
                    dictionary.isStale(after: (row &- area.top) &* area.width &+ at &- start, writer.written)
                {
                    writer.put(writer.clear, &bytes)
                    writer.reset()
                    forget()
                }
                string = pixel
            }
        }
        if string >= 0 {
            writer.put(string, &bytes)
            writer.advance()
        }
        writer.put(writer.clear + 1, &bytes)
        writer.flush(&bytes)
        count = writer.position
    }

    private mutating func forget() {
        for slot in table.indices { table[slot] = 0 }
        for code in 0..<256 { children[code] = 0 }
    }

    @inline(__always)
    private static func slot(_ key: UInt32) -> Int { Int((key &* 0x9E37_79B1) &>> 18) }

    /// The continuation of a string that shows what is wanted about as well as `colour` does; none for a transparent one.
    @inline(__always)
    private func alternative(
        after string: Int, to colour: UInt32, _ wanted: UInt32, colours: borrowing Span<UInt32>, _ pixel: Int,
        _ loss: Int32
    ) -> (code: Int, pixel: Int)? {
        // What is drawn may only differ where loss is allowed; what stays may be drawn as it is.
        guard colour &>> 24 == 255, loss > 0 || colours[pixel] == 0 else { return nil }
        var child = Int(children[string])
        var found: (code: Int, pixel: Int)?
        var least = ColourSearch.distance(colour, wanted) &+ loss &+ 1
        var looked = 0
        while child != 0, looked < Self.mostChildren {
            let suffix = Int(suffixes[child])
            let other = colours[suffix]
            if other != 0 {
                let distance = ColourSearch.distance(other, wanted)
                if distance < least {
                    least = distance
                    found = (child, suffix)
                }
            }
            child = Int(siblings[child])
            looked &+= 1
        }
        return found
    }
}

/// Whether a full dictionary still serves.
///
/// In text, windows and line art what comes next is like what came before, in films it isn't: kept to a frame's end, it
/// takes 7 % off a recording of a screen and adds 47 % to a moving camera. So it is kept where its strings are long, for
/// as long as a pixel takes at most half as much again as while it grew.
private struct DictionaryUse {
    /// Codes between two looks.
    private static let window = 512
    /// Pixels, on average of the strings from which it grew.
    private static let longStrings = 4
    /// Where the present dictionary began.
    private var began = (pixels: 0, bits: 0)
    /// How many pixels it grew from, and their bits; nil until it is full.
    private var grown: (pixels: Int, bits: Int)?
    private var looked = (pixels: 0, bits: 0)
    private var codes = 0

    /// Called for each code that is written while the dictionary is full.
    ///
    /// - Parameters:
    ///   - pixels: Coded by now.
    ///   - bits: Written by now.
    /// - Returns: Whether it is to be begun anew, which is then taken as done.
    mutating func isStale(after pixels: Int, _ bits: Int) -> Bool {
        let isStale: Bool
        if let grown {
            codes &+= 1
            guard codes == Self.window else { return false }
            isStale = (bits &- looked.bits) &* grown.pixels &* 2 > (pixels &- looked.pixels) &* grown.bits &* 3
        } else {
            grown = (pixels &- began.pixels, bits &- began.bits)
            isStale = pixels &- began.pixels < 4096 &* Self.longStrings
        }
        codes = 0
        looked = (pixels, bits)
        if isStale {
            began = looked
            grown = nil
        }
        return isStale
    }
}

/// Packs codes of growing width.
private struct CodeWriter {
    let codeSize: Int
    private(set) var next: Int
    private(set) var position = 0
    private var width: Int
    private var accumulator: UInt64 = 0
    private var bits = 0

    init(codeSize: Int) {
        self.codeSize = codeSize
        width = codeSize + 1
        next = (1 << codeSize) + 2
    }

    var clear: Int { 1 << codeSize }

    var written: Int { position &* 8 &+ bits }

    @inline(__always)
    mutating func put(_ code: Int, _ bytes: inout [UInt8]) {
        accumulator |= UInt64(truncatingIfNeeded: code) &<< UInt64(truncatingIfNeeded: bits)
        bits &+= width
        while bits >= 8 {
            bytes[position] = UInt8(truncatingIfNeeded: accumulator)
            position &+= 1
            accumulator = accumulator &>> 8
            bits &-= 8
        }
    }

    /// A string was added: codes become wider when its own needs it.
    @inline(__always)
    mutating func advance() {
        if next == 1 &<< width, width < 12 { width &+= 1 }
        if next < 4096 { next &+= 1 }
    }

    mutating func reset() {
        width = codeSize + 1
        next = (1 << codeSize) + 2
    }

    mutating func flush(_ bytes: inout [UInt8]) {
        guard bits > 0 else { return }
        bytes[position] = UInt8(truncatingIfNeeded: accumulator)
        position += 1
        accumulator = 0
        bits = 0
    }
}
