import SatchelCore

/// What follows the last row of a still, where its decoder tells.
struct DataEnd: Hashable, Sendable {
    /// Whether the file has its end marker.
    var hasMarker = true
    /// Bytes that no row asked for.
    var leftOver = 0
}

/// Brings a still to the sizes of its renditions.
///
/// Which one does is decided in one place, ``StillFacts/downscaler(at:)``.
protocol StillDownscaler: Sendable {
    /// The part of a source that is wanted, decoded and scaled as it is stored; in memory.
    ///
    /// - Parameters:
    ///   - isLenient: What is damaged or missing is no failure, where the decoder can leave it grey.
    ///   - end: Becomes what follows the last row, where all rows were read; stays nil where the decoder doesn't tell.
    /// - Returns: Its own colour space, with its colour profile where that is needed.
    func decoded(
        _ decoding: StillDecoding, _ bytes: borrowing SourceBytes, _ header: borrowing Picture, isLenient: Bool,
        end: inout DataEnd?
    ) throws(VipsFailure) -> Picture

    /// `region` of a picture scaled to exactly `size`; in memory.
    ///
    /// - Returns: The same format, where that is one of 8 or 16 bits, else floats; the same colour space and colour
    ///   profile; at most one band beyond colour.
    func scaled(_ picture: borrowing Picture, _ region: PixelRect, to size: PixelSize) throws(VipsFailure) -> Picture
}

extension StillDownscaler {
    /// All of it scaled to exactly `size`, without metadata.
    func scaled(_ picture: borrowing Picture, to size: PixelSize) throws(VipsFailure) -> Picture {
        size == picture.size ? picture.shared() : try scaled(picture, PixelRect(picture.size), to: size).stripped()
    }
}

extension StillFacts {
    func isScaledByPlanes(at speed: Speed) -> Bool { isPlanarJPEG && speed != .best }

    /// libvips scales, but where planes of a JPEG are cheaper at no loss.
    func downscaler(at speed: Speed) -> any StillDownscaler {
        isScaledByPlanes(at: speed) ? PlanarJPEGDownscaler(speed: speed) : VipsDownscaler(speed: speed)
    }
}
