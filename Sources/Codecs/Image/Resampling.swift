import Attachments
import CVips

/// A rectangle of a picture in pixels and parts of them.
///
/// What a decoder scaled by itself has parts of pixels at its edges: half of 2,725 pixels are 1,362½.
struct Area: Hashable, Sendable {
    var across: Span
    var down: Span

    init(_ rect: PixelRect) {
        across = Span(start: Double(rect.left), length: Double(rect.size.width))
        down = Span(start: Double(rect.top), length: Double(rect.size.height))
    }

    /// The pixels of a picture of `size` that it touches: at least one.
    func pixels(of size: PixelSize) -> PixelRect {
        let (left, right) = across.pixels(of: size.width)
        let (top, bottom) = down.pixels(of: size.height)
        return PixelRect(left: left, top: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    /// The area in terms of the first pixel that it touches.
    var relative: Area {
        var area = self
        area.across.start -= across.start.rounded(.down)
        area.down.start -= down.start.rounded(.down)
        return area
    }

    /// The same part of the picture after a decoder divided its sides by these numbers.
    func divided(by x: Double, _ y: Double) -> Area {
        var area = self
        area.across = Span(start: across.start / x, length: across.length / x)
        area.down = Span(start: down.start / y, length: down.length / y)
        return area
    }
}

extension Picture {
    /// `area` scaled to exactly `size` by Lanczos 3, in floats from the first to the last step; in memory.
    ///
    /// libvips' own `resize` cannot start within a pixel, which moves the picture by up to half a pixel after a decoder has
    /// scaled it, and rounds to six bits of weight. Transparent pixels lend their neighbours no colour.
    ///
    /// Rows are asked for in order, once, on this thread. What is many times too large is averaged over whole pixels
    /// first.
    ///
    /// - Returns: The same format, colour space and colour profile, and no other metadata; at most one band beyond colour.
    func resampled(
        _ area: Area, to size: PixelSize, speed: Speed = .standard
    ) throws(VipsFailure) -> Picture {
        let wide = Self.box(area.across.length / Double(size.width), speed)
        let high = Self.box(area.down.length / Double(size.height), speed)
        if wide > 1 || high > 1 {
            // As whole pixels of the area, not of the picture, so that nothing beyond a crop's edge is averaged in.
            let cut = try unpacked().extracted(area.pixels(of: self.size))
            let smaller = try cut.averaged(wide, high)
            return try smaller.lanczos(area.relative.divided(by: Double(wide), Double(high)), to: size)
        }
        return try lanczos(area, to: size)
    }

    /// By how many whole pixels a line is averaged first, given by how much it is too long.
    private static func box(_ factor: Double, _ speed: Speed) -> Int {
        factor >= 2 * speed.boxMargin ? Int(factor / speed.boxMargin) : 1
    }

    private func averaged(_ wide: Int, _ high: Int) throws(VipsFailure) -> Picture {
        guard hasAlpha else { return try unsafe derive { unsafe satchel_shrink($0, $1, Int32(wide), Int32(high)) } }
        let format = format
        let premultiplied = try unsafe derive { unsafe satchel_premultiply($0, $1) }
        let smaller = try unsafe premultiplied.derive { unsafe satchel_shrink($0, $1, Int32(wide), Int32(high)) }
        let straight = try unsafe smaller.derive { unsafe satchel_unpremultiply($0, $1) }
        return try unsafe straight.derive { unsafe satchel_cast($0, $1, format) }
    }

    private func lanczos(_ area: Area, to size: PixelSize) throws(VipsFailure) -> Picture {
        let plain = try unpacked().withoutSpareBands().inScalableFormat()
        let cut = try plain.extracted(area.pixels(of: plain.size))
        let scaling = Scaling(
            across: LanczosWeights(area.relative.across, of: cut.width, to: size.width),
            down: LanczosWeights(area.relative.down, of: cut.height, to: size.height),
            bands: cut.bands,
            format: cut.format, hasAlpha: cut.hasAlpha)
        let bytes = try scaling.run(cut)
        let picture = try unsafe cut.derive { original, out in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return -1 }
                return unsafe satchel_image_like(
                    original, start, bytes.count, Int32(size.width), Int32(size.height), out)
            }
        }
        if WorkTime.secondsLeft != nil { picture.stopInTime() }
        return picture
    }

    /// From the packed pixels of an 8 bit Lab TIFF to plain ones.
    private func unpacked() throws(VipsFailure) -> Picture {
        try unsafe derive { unsafe vips_image_decode($0, $1) }
    }

    /// Without the bands beyond colour and alpha that some TIFFs carry.
    private func withoutSpareBands() throws(VipsFailure) -> Picture {
        let colours =
            switch interpretation {
            case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: 1
            case VIPS_INTERPRETATION_CMYK: 4
            case VIPS_INTERPRETATION_MULTIBAND: bands
            default: 3
            }
        return try unsafe derive { [bands] in
            unsafe satchel_extract_bands($0, $1, 0, Int32(min(bands, colours + 1)))
        }
    }

    private func inScalableFormat() throws(VipsFailure) -> Picture {
        let format = format
        let isScalable = [VIPS_FORMAT_UCHAR, VIPS_FORMAT_USHORT, VIPS_FORMAT_FLOAT].contains(format)
        return try unsafe derive { unsafe satchel_cast($0, $1, isScalable ? format : VIPS_FORMAT_FLOAT) }
    }
}

/// One scaling of rows that come in order.
@safe
private struct Scaling {
    var across: LanczosWeights
    var down: LanczosWeights
    var bands: Int
    var format: VipsBandFormat
    var hasAlpha: Bool

    /// Bytes of source that are computed at once, in whole rows.
    private static let chunkBytes = 1 << 19

    /// - Returns: The rows of the result without gaps.
    func run(_ picture: borrowing Picture) throws(VipsFailure) -> [UInt8] {
        let count = picture.width * bands
        // Vectors of eight, and four that are read past the end.
        let stride = (count + 7) / 8 * 8 + 8
        let rowBytes = picture.width * picture.pixelBytes
        let chunk = min(max(1, Self.chunkBytes / rowBytes), 32)
        let resultBytes = across.count * picture.pixelBytes
        let sums = down.overlap
        var source = [UInt8](repeating: 0, count: rowBytes * chunk)
        var row = [Float](repeating: 0, count: stride)
        var sum = [Float](repeating: 0, count: stride * sums)
        var line = [Float](repeating: 0, count: across.count * bands + 8)
        var result = [UInt8](repeating: 0, count: resultBytes * down.count)
        // The first result that is not complete, and the first that has not begun.
        var (oldest, next) = (0, 0)
        var top = Int(down.starts.first ?? 0)
        let end = Int((down.starts.last ?? 0) + (down.counts.last ?? 0))
        while top < end {
            if WorkTime.isUp { throw VipsFailure(text: "no time is left") }
            let rows = min(chunk, end - top)
            try unsafe picture.withHandle { (handle) throws(VipsFailure) in
                let failed = unsafe source.withUnsafeMutableBufferPointer { source in
                    guard let start = source.baseAddress else { return true }
                    return unsafe satchel_read_rows(handle, Int32(top), Int32(rows), start) != 0
                }
                if failed { throw VipsFailure.current() }
            }
            for y in top..<top + rows {
                read(source, at: (y - top) * rowBytes, into: &row, count)
                while next < down.count, Int(down.starts[next]) <= y { next += 1 }
                for index in oldest..<next {
                    let weight = down.weights[index * down.taps + y - Int(down.starts[index])]
                    add(row, weight, to: &sum, at: index % sums * stride, count)
                }
                while oldest < next, Int(down.starts[oldest] + down.counts[oldest]) <= y + 1 {
                    let at = oldest % sums * stride
                    finish(&sum, at: at, stride, through: &line, into: &result, at: oldest * resultBytes)
                    oldest += 1
                }
            }
            top += rows
        }
        return result
    }

    private func read(_ source: [UInt8], at offset: Int, into row: inout [Float], _ count: Int) {
        unsafe source.withUnsafeBufferPointer { source in
            unsafe row.withUnsafeMutableBufferPointer { row in
                guard let source = source.baseAddress, let row = row.baseAddress else { return }
                switch format {
                case VIPS_FORMAT_UCHAR: unsafe satchel_row_from_bytes(source + offset, row, count)
                case VIPS_FORMAT_USHORT: unsafe satchel_row_from_shorts(source + offset, row, count)
                default: unsafe satchel_row_from_floats(source + offset, row, count)
                }
                if hasAlpha { unsafe satchel_row_premultiply(row, count / bands, Int32(bands)) }
            }
        }
    }

    private func add(_ row: [Float], _ weight: Float, to sum: inout [Float], at offset: Int, _ count: Int) {
        unsafe row.withUnsafeBufferPointer { row in
            unsafe sum.withUnsafeMutableBufferPointer { sum in
                guard let row = row.baseAddress, let sum = sum.baseAddress else { return }
                unsafe satchel_row_add(row, weight, sum + offset, count)
            }
        }
    }

    /// Scales a complete sum across, writes it into the result, and makes room for another.
    private func finish(
        _ sum: inout [Float], at offset: Int, _ stride: Int, through line: inout [Float], into result: inout [UInt8],
        at position: Int
    ) {
        let count = across.count * bands
        unsafe sum.withUnsafeMutableBufferPointer { sum in
            unsafe line.withUnsafeMutableBufferPointer { line in
                unsafe result.withUnsafeMutableBufferPointer { result in
                    guard let sum = sum.baseAddress, let line = line.baseAddress, let result = result.baseAddress
                    else { return }
                    unsafe across.weights.withUnsafeBufferPointer { weights in
                        guard let weights = weights.baseAddress else { return }
                        unsafe satchel_row_convolve(
                            sum + offset, Int32(bands), across.starts, across.counts, weights, Int32(across.taps), line,
                            Int32(across.count))
                    }
                    // Half a step of 8 or 16 bits; in floats alpha's own range isn't known.
                    let least: Float = format == VIPS_FORMAT_FLOAT ? 1e-6 : 0.5
                    if hasAlpha { unsafe satchel_row_unpremultiply(line, across.count, Int32(bands), least) }
                    switch format {
                    case VIPS_FORMAT_UCHAR: unsafe satchel_row_to_bytes(line, result + position, count)
                    case VIPS_FORMAT_USHORT: unsafe satchel_row_to_shorts(line, result + position, count)
                    default: unsafe satchel_row_to_floats(line, result + position, count)
                    }
                    unsafe (sum + offset).update(repeating: 0, count: stride)
                }
            }
        }
    }
}
