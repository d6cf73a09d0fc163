package import SatchelCore

/// The scaling of photographs by itself, so that it can be measured without a decoder before and an encoder behind it.
package enum RasterScaling {
    /// Red, green and blue scaled to `size` as a still's are.
    ///
    /// - Parameter rgb: `source.area × 3` bytes.
    /// - Returns: `size.area × 3` bytes.
    package static func scaled(
        rgb: [UInt8], of source: PixelSize, to size: PixelSize
    ) throws(AttachmentError) -> [UInt8] {
        let picture = try Raster(width: source.width, height: source.height, channels: 3, bytes: rgb).picture()
        return try scaling { () throws(VipsFailure) in
            try PlanarJPEGDownscaler().scaled(picture, to: size).raster().bytes
        }
    }
}
