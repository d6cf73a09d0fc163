package import SatchelCore
import CVips

/// A decoded picture: sRGB, 8 bits a channel, rows without padding, alpha not premultiplied.
package struct Raster: Hashable, Sendable {
    package var width: Int
    package var height: Int
    /// 3 (red, green, blue) or 4 (and alpha).
    package var channels: Int
    /// `width × height × channels` bytes.
    package var bytes: [UInt8]

    package init(width: Int, height: Int, channels: Int, bytes: [UInt8]) {
        precondition(width > 0 && height > 0 && (channels == 3 || channels == 4))
        precondition(bytes.count == width * height * channels)
        self.width = width
        self.height = height
        self.channels = channels
        self.bytes = bytes
    }

    package var size: PixelSize { PixelSize(width: width, height: height) }

    /// The part of the picture in `rect`, which lies within it.
    package func cropped(to rect: PixelRect) -> Raster {
        guard rect.size != size else { return self }
        var part: [UInt8] = []
        part.reserveCapacity(Int(rect.size.area) * channels)
        for row in rect.top..<rect.top + rect.size.height {
            let first = (row * width + rect.left) * channels
            part += bytes[first..<first + rect.size.width * channels]
        }
        return Raster(width: rect.size.width, height: rect.size.height, channels: channels, bytes: part)
    }

    /// This picture of three channels scaled as a still is: for what measures that alone.
    package func scaled(to size: PixelSize) throws(AttachmentError) -> Raster {
        let picture = try picture()
        return try scaling { () throws(VipsFailure) in try PlanarJPEGDownscaler().scaled(picture, to: size).raster() }
    }

    /// The same pixels as an image of libvips.
    func picture() throws(AttachmentError) -> Picture {
        vips_error_clear()
        let image = unsafe bytes.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.flatMap { start in
                unsafe satchel_image_from_bytes(start, bytes.count, Int32(width), Int32(height), Int32(channels))
            }
        }
        guard let image = unsafe image else { throw .tooExpensive(resource: "memory", granted: "share") }
        let picture = unsafe Picture(owning: image)
        if WorkTime.secondsLeft != nil { picture.stopInTime() }
        return picture
    }
}

extension Picture {
    /// The pixels of an sRGB picture with 8 bits and 3 or 4 bands.
    func raster() throws(VipsFailure) -> Raster {
        Raster(width: width, height: height, channels: bands, bytes: try unsafe written { unsafe [UInt8]($0) })
    }
}

/// A colour of sRGB.
package struct RGB: Hashable, Sendable {
    package var red: UInt8
    package var green: UInt8
    package var blue: UInt8

    static let white = RGB(red: 255, green: 255, blue: 255)

    package init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Reads `#rrggbb`; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 7, text.first == "#", let value = UInt32(text.dropFirst(), radix: 16) else {
            return nil
        }
        self.init(
            red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
            blue: UInt8(truncatingIfNeeded: value))
    }

    /// `#rrggbb`.
    var hexadecimal: String {
        let value = Int(red) << 16 | Int(green) << 8 | Int(blue)
        let digits = String(value, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }
}
