/// Pixels as others have them.
package enum PixelBytes {
    /// Red, green, blue and alpha of each pixel.
    package static func rgba(_ pixels: [UInt32]) -> [UInt8] {
        unsafe pixels.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// The same laid over white; opaque.
    package static func overWhite(_ pixels: [UInt32]) -> [UInt32] {
        pixels.map { pixel in
            let alpha = pixel >> 24
            guard alpha < 255 else { return pixel }
            var result: UInt32 = 0xFF00_0000
            for shift: UInt32 in [0, 8, 16] {
                let value = (pixel >> shift & 255) * alpha + 255 * (255 - alpha)
                result |= ((value + 127) / 255) << shift
            }
            return result
        }
    }
}
