// This folder takes the place of libvips for JPEGs of 8 bits in YCbCr, at the speeds `standard` and `fast`: their planes are
// scaled one by one, each once, before colours are interpolated and converted, and after libjpeg has halved what is more
// than twice too large.
//
// From 12 megapixels to 1038 pixels, decoded and scaled, on Debian 12: 43 ms of the processor's where `best` takes 263, 42 at
// `fast`; without any shrinking by libjpeg 58. `inner-bench speeds` says what it is elsewhere, of whole renditions. A whole source
// in a batch on Debian 13: 70 ms, 63 at `fast`, 255 at `best`.
//
// At the same bytes as JPEG it may be 0.1 dB further from the source than what `best` scales at `standard`, and 0.7 dB at `fast`:
// `ImageFidelityTests` holds it to that, from 12 megapixels down to icons, and `DownscalerTests` has `best` no worse on any sample.

import SatchelCore
import CVips

/// Scales the planes of a JPEG, and what was made of them, by ``RowScaler``.
struct PlanarJPEGDownscaler: StillDownscaler {
    var speed: Speed = .standard

    func decoded(
        _ decoding: StillDecoding, _ bytes: borrowing SourceBytes, _ header: borrowing Picture, isLenient: Bool,
        end: inout DataEnd?
    ) throws(VipsFailure) -> Picture {
        let target = decoding.target
        guard
            let planes = try unsafe bytes.withBytes({ (bytes) throws(VipsFailure) -> Picture? in
                guard
                    let reader = try unsafe JPEGReader.open(
                        bytes, shrink: decoding.shrinkOnLoad.shrink, chroma: decoding.chroma, isLenient: isLenient)
                else { return nil }
                return try reader.scaled(
                    Area(decoding.storedRegion), of: decoding.facts.storedSize, to: target, end: &end)
            })
        else {
            return try VipsDownscaler(speed: speed).decoded(
                decoding, bytes, header, isLenient: isLenient, end: &end)
        }
        // Most need nothing else.
        guard header.needsProfile || decoding.facts.orientation != 1 else { return planes }
        return try unsafe planes.withPixels { (pixels) throws(VipsFailure) in
            try unsafe header.like(pixels, size: target)
        }
    }

    func scaled(_ picture: borrowing Picture, _ region: PixelRect, to size: PixelSize) throws(VipsFailure) -> Picture {
        guard picture.isPlain else { return try VipsDownscaler(speed: speed).scaled(picture, region, to: size) }
        let rowBytes = picture.width * 3
        let area = Area(region)
        var scaler = RowScaler(
            across: LanczosWeights(area.across, of: picture.width, to: size.width),
            down: LanczosWeights(area.down, of: picture.height, to: size.height), bands: 3, chunk: Self.rows)
        var source = [UInt8](repeating: 0, count: rowBytes * Self.rows + RowScaler.slack)
        try unsafe picture.withPixels { (pixels) throws(VipsFailure) in
            var top = 0
            while !scaler.isComplete {
                if WorkTime.isUp { throw VipsFailure(text: "no time is left") }
                let rows = top..<min(top + Self.rows, picture.height)
                unsafe source.withUnsafeMutableBufferPointer { source in
                    unsafe source.baseAddress?.update(
                        from: pixels + rows.lowerBound * rowBytes, count: rows.count * rowBytes)
                }
                unsafe source.withUnsafeBufferPointer { unsafe scaler.add($0, stride: rowBytes, rows: rows) }
                top = rows.upperBound
            }
        }
        return try unsafe picture.like(scaler.result, size: size)
    }

    /// Rows that are scaled at once.
    private static let rows = 32
}
