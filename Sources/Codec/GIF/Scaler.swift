import CScaling

/// Scales what a canvas shows, or a part of it, and only where it has changed.
///
/// The rows that were scaled across are kept, so that a change costs its own rows and columns and the filter's reach,
/// with the same result as scaling everything. Filtered with premultiplied alpha: transparent pixels lend their neighbours
/// no colour.
package struct Scaler: Sendable {
    /// How wide the filter's lobes reach, in pixels of the result.
    package enum Filter: Hashable, Sendable {
        case lanczos
        /// The mean of the area: a sixth of the work.
        case box
    }

    package let width: Int
    package let height: Int
    /// The result, as a ``Canvas`` has it, with any alpha.
    package private(set) var pixels: [UInt32]
    /// Where the result has changed since somebody last looked.
    package private(set) var changes: RowSpans

    private let region: Rectangle
    private let across: Taps
    private let down: Taps
    /// Rows of the source, scaled across.
    private var rows: [SIMD4<Float>]
    private var rowChanges: RowSpans
    private var line: [SIMD4<Float>]

    /// - Parameter region: The part of the canvas that is scaled; inside of it.
    package init(region: Rectangle, width: Int, height: Int, filter: Filter) {
        precondition(width > 0 && height > 0 && !region.isEmpty)
        self.width = width
        self.height = height
        self.region = region
        pixels = Array(repeating: 0, count: width * height)
        changes = RowSpans(rows: height)
        across = Taps(from: region.width, to: width, filter: filter)
        down = Taps(from: region.height, to: height, filter: filter)
        let scales = region.width != width || region.height != height
        rows = Array(repeating: .zero, count: scales ? region.height * width : 0)
        rowChanges = RowSpans(rows: region.height)
        line = Array(repeating: .zero, count: region.width)
    }

    package mutating func forgetChanges() { changes.clear() }

    /// Follows what has changed on `canvas`.
    package mutating func update(from canvas: borrowing Canvas) {
        guard !rows.isEmpty else { return copy(from: canvas) }
        for row in 0..<region.height {
            let changed = canvas.changes[region.top + row].shifted(by: -region.left).clamped(to: 0..<region.width)
            guard !changed.isEmpty else { continue }
            scaleAcross(canvas, row: row, changed: changed)
        }
        scaleDown()
        rowChanges.clear()
    }

    private mutating func copy(from canvas: borrowing Canvas) {
        for row in 0..<height {
            let changed = canvas.changes[region.top + row].shifted(by: -region.left).clamped(to: 0..<width)
            guard !changed.isEmpty else { continue }
            let from = (region.top + row) * canvas.width + region.left
            for column in changed { pixels[row * width + column] = canvas.pixels[from + column] }
            changes.add(changed, in: row)
        }
    }

    private mutating func scaleAcross(_ canvas: borrowing Canvas, row: Int, changed: Range<Int>) {
        let across = self.across
        let columns = across.reached(by: changed)
        guard !columns.isEmpty else { return }
        let first = across.starts[columns.lowerBound]
        let end = across.starts[columns.upperBound - 1] + across.count
        let from = (region.top + row) * canvas.width + region.left
        let source = canvas.pixels.span
        var linePixels = taken(from: &self.line)
        var rowPixels = taken(from: &self.rows)
        var line = linePixels.mutableSpan
        var rows = rowPixels.mutableSpan
        var last: UInt32 = 0
        var value = SIMD4<Float>.zero
        for column in first..<end {
            let pixel = source[from &+ column]
            if pixel != last {
                last = pixel
                value = Self.premultiplied(pixel)
            }
            line[column] = value
        }
        let starts = across.starts.span
        let weights = across.weights.span
        let count = across.count
        let base = row * width
        for column in columns {
            let start = starts[column]
            let weight = column &* count
            var sum = SIMD4<Float>.zero
            for tap in 0..<count { sum += line[start &+ tap] * weights[weight &+ tap] }
            rows[base &+ column] = sum
        }
        self.line = linePixels
        self.rows = rowPixels
        rowChanges.add(columns, in: row)
    }

    private mutating func scaleDown() {
        let down = self.down
        let count = down.count
        let width = self.width
        let weights = down.weights.span
        let rowPixels = taken(from: &self.rows)
        let rows = rowPixels.span
        var pixels = taken(from: &self.pixels)
        var result = pixels.mutableSpan
        for row in 0..<height {
            let start = down.starts[row]
            var columns = 0..<0
            for source in start..<start + count {
                let changed = rowChanges[source]
                if changed.isEmpty { continue }
                columns =
                    columns.isEmpty
                    ? changed
                    : min(columns.lowerBound, changed.lowerBound)..<max(columns.upperBound, changed.upperBound)
            }
            var first = Int.max
            var last = -1
            for column in columns {
                var sum = SIMD4<Float>.zero
                var at = start &* width &+ column
                for tap in 0..<count {
                    sum += rows[at] * weights[row &* count &+ tap]
                    at &+= width
                }
                let pixel = Self.straight(sum)
                if result[row &* width &+ column] != pixel {
                    result[row &* width &+ column] = pixel
                    if first == .max { first = column }
                    last = column
                }
            }
            if last >= 0 { changes.add(first..<last + 1, in: row) }
        }
        self.pixels = pixels
        self.rows = rowPixels
    }

    // MARK: Pixels as numbers

    private static let shifts = SIMD4<UInt32>(0, 8, 16, 24)

    @inline(__always)
    private static func premultiplied(_ pixel: UInt32) -> SIMD4<Float> {
        // The bits of 2²³ + a byte, as a number: conversion without a call for each lane.
        let bits = ((SIMD4(repeating: pixel) &>> shifts) & 255) | 0x4B00_0000
        let values = unsafe unsafeBitCast(bits, to: SIMD4<Float>.self) - 8_388_608
        let alpha = values.w
        guard alpha < 255 else { return values }
        var scaled = values * (alpha / 255)
        scaled.w = alpha
        return scaled
    }

    @inline(__always)
    private static func straight(_ sum: SIMD4<Float>) -> UInt32 {
        var values = sum
        let alpha = sum.w
        // Beside transparency alpha overshoots as the colours do.
        if alpha < 254.5 || alpha > 255.5 {
            guard alpha >= 0.5 else { return 0 }
            values *= 255 / alpha
            values.w = alpha
        }
        values.replace(with: SIMD4<Float>.zero, where: values .< SIMD4<Float>.zero)
        values.replace(with: SIMD4(repeating: 255), where: values .> SIMD4(repeating: 255))
        // Rounded by what doesn't fit behind 2²³.
        let bits = unsafe unsafeBitCast(values + 8_388_608, to: SIMD4<UInt32>.self) & 255
        return (bits &<< shifts).wrappedSum()
    }
}

/// Which pixels of a row make a pixel of the scaled row, and by how much.
struct Taps: Sendable {
    /// As many for each.
    let count: Int
    private(set) var starts: [Int]
    /// `count` for each; their sum is 1.
    private(set) var weights: [Float]

    init(from source: Int, to target: Int, filter: Scaler.Filter) {
        let scale = Double(source) / Double(target)
        let stretch = max(1, scale)
        let support = (filter == .lanczos ? 3.0 : 0.5) * stretch
        let count = min(source, Int((support * 2).rounded(.up)) + 1)
        self.count = count
        starts = (0..<target).map { position in
            let first = Int(((Double(position) + 0.5) * scale - support).rounded(.down))
            return min(max(0, first), source - count)
        }
        weights = Array(repeating: 0, count: target * count)
        switch filter {
        case .lanczos:
            let counts = [Int32](repeating: Int32(count), count: target)
            unsafe satchel_lanczos_weights(
                0, scale, starts.map(Int32.init), counts, Int32(count), &weights, Int32(target))
        case .box:
            for position in 0..<target {
                let centre = (Double(position) + 0.5) * scale
                let shares = (0..<count).map { tap in
                    let left = Double(starts[position] + tap)
                    return max(0, min(left + 1, centre + support) - max(left, centre - support))
                }
                let sum = shares.reduce(0, +)
                for tap in 0..<count { weights[position * count + tap] = Float(shares[tap] / sum) }
            }
        }
    }

    /// The pixels of the scaled row to which `changed` ones contribute.
    func reached(by changed: Range<Int>) -> Range<Int> {
        var low = 0
        var high = starts.count
        // The first whose taps end behind the start of the change.
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] + count > changed.lowerBound { high = middle } else { low = middle + 1 }
        }
        let first = low
        high = starts.count
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] < changed.upperBound { low = middle + 1 } else { high = middle }
        }
        return first..<max(first, low)
    }
}

extension Range<Int> {
    func shifted(by distance: Int) -> Range<Int> { lowerBound + distance..<upperBound + distance }
}
