/// Pixels as others have them.
package enum PixelBytes {
    /// Red, green, blue and alpha of each pixel.
    package static func rgba(_ pixels: [UInt32]) -> [UInt8] {
        unsafe pixels.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// The bits of alpha that all pixels have: 255 where none is transparent, 128 or more where each is at least half opaque.
    package static func alphaBits(_ pixels: [UInt32]) -> UInt32 { pixels.reduce(.max) { $0 & $1 } >> 24 }

    /// Whether more than one pixel in 256 differs by more than 100 in a color, or is seen in one of two frames alone.
    ///
    /// What differs less may look the same to the savers of libvips: by 18 of WebP, and to palettes of 32 colors.
    package static func differPlainly(_ one: [UInt32], _ other: [UInt32]) -> Bool {
        func differ(_ one: UInt32, _ other: UInt32, _ shift: UInt32) -> Bool {
            abs(Int32(one >> shift & 255) - Int32(other >> shift & 255)) > 100
        }
        let plain = zip(one, other).count { one, other in
            guard one != other, max(one, other) >> 24 >= 128 else { return false }
            guard min(one, other) >> 24 >= 128 else { return true }
            return differ(one, other, 0) || differ(one, other, 8) || differ(one, other, 16)
        }
        return plain > one.count / 256
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
