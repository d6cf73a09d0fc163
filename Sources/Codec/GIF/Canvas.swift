/// Columns of each row that have changed, as one span a row.
package struct RowSpans: Sendable {
    /// The first changed column of each row; not below its end where nothing changed.
    package private(set) var starts: [Int32]
    /// The column behind the last changed one.
    package private(set) var ends: [Int32]

    package init(rows: Int) {
        starts = Array(repeating: .max, count: rows)
        ends = Array(repeating: 0, count: rows)
    }

    package var rows: Int { starts.count }

    package subscript(row: Int) -> Range<Int> {
        starts[row] < ends[row] ? Int(starts[row])..<Int(ends[row]) : 0..<0
    }

    package mutating func add(_ columns: Range<Int>, in row: Int) {
        guard !columns.isEmpty else { return }
        starts[row] = min(starts[row], Int32(truncatingIfNeeded: columns.lowerBound))
        ends[row] = max(ends[row], Int32(truncatingIfNeeded: columns.upperBound))
    }

    package mutating func clear() {
        for row in starts.indices where starts[row] < ends[row] {
            starts[row] = .max
            ends[row] = 0
        }
    }
}

/// What an animation shows, and where that has changed since somebody last looked.
///
/// A pixel is 32 bits: red in the lowest byte, then green, blue and alpha, which is not premultiplied. Fully transparent
/// is 0 and nothing else.
package struct Canvas: Sendable {
    package let width: Int
    package let height: Int
    package private(set) var pixels: [UInt32]
    package private(set) var changes: RowSpans

    /// Transparent, and nothing has changed.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
        pixels = Array(repeating: 0, count: width * height)
        changes = RowSpans(rows: height)
    }

    package mutating func forgetChanges() { changes.clear() }

    /// Draws rows of palette indices, one after the other, at a place of the canvas; what lies outside is left away.
    ///
    /// - Parameters:
    ///   - palette: 256 pixels; 0 for an index that shows what was there.
    ///   - area: Inside or outside the canvas, as the file says.
    ///   - isInterlaced: Rows come as GIF interlaces them.
    package mutating func draw(_ indices: [UInt8], palette: [UInt32], area: Rectangle, isInterlaced: Bool) {
        let shown = area.clipped(width: width, height: height)
        guard !shown.isEmpty else { return }
        let colours = palette.span
        let indices = indices.span
        var pixels = taken(from: &self.pixels)
        var target = pixels.mutableSpan
        for row in 0..<shown.height {
            let line = shown.top &- area.top &+ row
            let stored = isInterlaced ? Interlacing.storedRow(line, height: area.height) : line
            var at = (shown.top &+ row) &* width &+ shown.left
            var from = stored &* area.width &+ (shown.left &- area.left)
            var first = Int.max
            var last = -1
            let start = at
            let end = at &+ shown.width
            while at < end {
                let colour = colours[Int(indices[from])]
                if colour != 0, target[at] != colour {
                    target[at] = colour
                    if first == .max { first = at }
                    last = at
                }
                at &+= 1
                from &+= 1
            }
            if last >= 0 {
                changes.add(shown.left + first - start..<shown.left + last - start + 1, in: shown.top + row)
            }
        }
        self.pixels = pixels
    }

    /// Makes a part transparent.
    package mutating func clear(_ area: Rectangle) {
        let shown = area.clipped(width: width, height: height)
        for row in shown.top..<shown.top + shown.height {
            let start = row * width
            var columns = shown.left..<shown.left + shown.width
            while let first = columns.first, pixels[start + first] == 0 { columns.removeFirst() }
            for column in columns { pixels[start + column] = 0 }
            changes.add(columns, in: row)
        }
    }

    /// The pixels of a part, row after row.
    package func copy(of area: Rectangle) -> [UInt32] {
        let shown = area.clipped(width: width, height: height)
        var copy: [UInt32] = []
        copy.reserveCapacity(shown.width * shown.height)
        for row in shown.top..<shown.top + shown.height {
            copy += pixels[row * width + shown.left..<row * width + shown.left + shown.width]
        }
        return copy
    }

    /// Puts back what ``copy(of:)`` gave for the same part.
    package mutating func restore(_ area: Rectangle, from copy: [UInt32]) {
        let shown = area.clipped(width: width, height: height)
        precondition(copy.count == shown.width * shown.height)
        for row in 0..<shown.height {
            replace(row: shown.top + row, from: shown.left, with: copy, at: row * shown.width, count: shown.width)
        }
    }

    /// Shows another picture of the canvas's size.
    package mutating func replace(with picture: [UInt32]) {
        precondition(picture.count == pixels.count)
        for row in 0..<height { replace(row: row, from: 0, with: picture, at: row * width, count: width) }
    }

    /// Shows another picture of the canvas's size, of 3 or 4 bytes a pixel: red, green, blue and, where it has it, alpha.
    package mutating func replace(with bytes: [UInt8], channels: Int) {
        precondition(bytes.count == pixels.count * channels && (channels == 3 || channels == 4))
        var picture = [UInt32](repeating: 0, count: pixels.count)
        for index in picture.indices {
            let at = index * channels
            let colour = UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16
            let alpha = channels == 4 ? UInt32(bytes[at + 3]) : 255
            picture[index] = alpha == 0 ? 0 : colour | alpha << 24
        }
        replace(with: picture)
    }

    private mutating func replace(row: Int, from left: Int, with source: [UInt32], at start: Int, count: Int) {
        let source = source.span
        var pixels = taken(from: &self.pixels)
        var target = pixels.mutableSpan
        var first = Int.max
        var last = -1
        let base = row * width + left
        for column in 0..<count {
            let colour = source[start &+ column]
            if target[base &+ column] != colour {
                target[base &+ column] = colour
                if first == .max { first = column }
                last = column
            }
        }
        self.pixels = pixels
        if last >= 0 { changes.add(left + first..<left + last + 1, in: row) }
    }
}

/// A rectangle of whole pixels, which may lie outside of what it is a part of.
package struct Rectangle: Hashable, Sendable {
    package var left: Int
    package var top: Int
    package var width: Int
    package var height: Int

    package init(left: Int, top: Int, width: Int, height: Int) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }

    package var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The part of it that lies in a picture of this size; empty, at the origin, where there is none.
    package func clipped(width: Int, height: Int) -> Rectangle {
        clipped(to: Rectangle(left: 0, top: 0, width: width, height: height))
    }

    /// The part of it that lies in another one; empty, at the origin, where there is none.
    package func clipped(to other: Rectangle) -> Rectangle {
        let left = max(self.left, other.left)
        let top = max(self.top, other.top)
        let right = min(self.left + width, other.left + other.width)
        let bottom = min(self.top + height, other.top + other.height)
        guard right > left, bottom > top else { return Rectangle(left: 0, top: 0, width: 0, height: 0) }
        return Rectangle(left: left, top: top, width: right - left, height: bottom - top)
    }

    /// The smallest one that holds both; an empty one counts for nothing.
    package func joined(with other: Rectangle) -> Rectangle {
        if isEmpty { return other }
        if other.isEmpty { return self }
        let left = min(self.left, other.left)
        let top = min(self.top, other.top)
        return Rectangle(
            left: left, top: top, width: max(self.left + width, other.left + other.width) - left,
            height: max(self.top + height, other.top + other.height) - top)
    }
}

extension Rectangle {
    static let none = Rectangle(left: 0, top: 0, width: 0, height: 0)
}

/// Empties an array and gives what it held, so that a part of a value can be changed while other parts are read.
func taken<Element>(from array: inout [Element]) -> [Element] {
    var elements: [Element] = []
    swap(&elements, &array)
    return elements
}

/// The order of the rows of an interlaced GIF frame: every 8th, the 4th between them, the 2nd, the rest.
enum Interlacing {
    /// At which place the file has the `row` of a frame.
    static func storedRow(_ row: Int, height: Int) -> Int {
        if row & 7 == 0 { return row >> 3 }
        let eighths = (height + 7) >> 3
        if row & 7 == 4 { return eighths + row >> 3 }
        let quarters = (height + 3) >> 2
        if row & 3 == 2 { return quarters + row >> 2 }
        return (height + 1) >> 1 + row >> 1
    }
}
