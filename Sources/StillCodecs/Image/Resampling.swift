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
        let plain = isPlain ? shared() : try unpacked().withoutSpareBands().inScalableFormat()
        let cut = try plain.extracted(area.pixels(of: plain.size))
        let bytes = try cut.scaledRows(
            across: LanczosWeights(area.relative.across, of: cut.width, to: size.width),
            down: LanczosWeights(area.relative.down, of: cut.height, to: size.height))
        return try unsafe cut.like(bytes, size: size)
    }

    /// A copy of pixels without gaps as a picture of this one's format, colour space and colour profile; in memory.
    func like(_ pixels: UnsafePointer<UInt8>, size: PixelSize) throws(VipsFailure) -> Picture {
        let bytes = Int(size.area) * pixelBytes
        let picture = try unsafe derive { original, out in
            unsafe satchel_image_like(original, pixels, bytes, Int32(size.width), Int32(size.height), out)
        }
        if WorkTime.secondsLeft != nil { picture.stopInTime() }
        return picture
    }

    /// The rows of this picture scaled, without gaps. Rows are asked for in order, once.
    private func scaledRows(across: LanczosWeights, down: LanczosWeights) throws(VipsFailure) -> [UInt8] {
        let rowBytes = width * pixelBytes
        let chunk = min(max(1, Self.chunkBytes / rowBytes), 32)
        var scaler = RowScaler(
            across: across, down: down, format: RowFormat(format), bands: bands, hasAlpha: hasAlpha, chunk: chunk)
        var source = [UInt8](repeating: 0, count: rowBytes * chunk + RowScaler.slack)
        var top = 0
        while !scaler.isComplete {
            if WorkTime.isUp { throw VipsFailure(text: "no time is left") }
            let rows = top..<min(top + chunk, height)
            let failed = unsafe withHandle { handle in
                unsafe source.withUnsafeMutableBufferPointer { source in
                    guard let start = source.baseAddress else { return true }
                    if let pixels = unsafe satchel_pixels(handle) {
                        let part = unsafe pixels + rows.lowerBound * rowBytes
                        unsafe start.update(from: part, count: rows.count * rowBytes)
                        return false
                    }
                    return unsafe satchel_read_rows(handle, Int32(rows.lowerBound), Int32(rows.count), start) != 0
                }
            }
            if failed { throw VipsFailure.current() }
            unsafe source.withUnsafeBufferPointer { unsafe scaler.add($0, stride: rowBytes, rows: rows) }
            top = rows.upperBound
        }
        return scaler.result
    }

    /// Bytes of source that are computed at once, in whole rows.
    private static let chunkBytes = 1 << 19

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

extension RowFormat {
    /// - Parameter format: One of those that scaling takes.
    fileprivate init(_ format: VipsBandFormat) {
        switch format {
        case VIPS_FORMAT_UCHAR: self = .bytes
        case VIPS_FORMAT_USHORT: self = .shorts
        default: self = .floats
        }
    }
}
