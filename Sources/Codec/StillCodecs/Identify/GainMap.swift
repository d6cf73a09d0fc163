package import SatchelCore
import Glibc

/// What makes a picture brighter than white on screens that can: a second picture beside it, which is not kept.
package enum GainMap {
    /// Whether a JPEG, a HEIF or a JPEG XL says that it has one, in its header.
    package static func isIn(_ file: UnsafeRawBufferPointer, _ format: PictureFormat) -> Bool {
        switch format {
        case .jpeg:
            // Adobe's and Google's in the picture's own XMP, and ISO 21496-1's; Apple's in the XMP of the second picture.
            unsafe holds("http://ns.adobe.com/hdr-gain-map/", in: header(file))
                || holds("urn:iso:std:iso:ts:21496:-1", in: header(file))
                || (holds("MPF", in: header(file)) && holds(apple, in: file))
        // An auxiliary picture of Apple's kind, or an item of ISO 21496-1's.
        case .heif: unsafe holds(apple, in: header(file)) || holds("infe", before: "tmap", in: header(file))
        // A box of ISO/IEC 18181-2's.
        case .jxl: unsafe Bytes(whole: file).boxes.contains { $0.type == "jhgm" }
        default: false
        }
    }

    private static let apple = "urn:com:apple:photo:2020:aux:hdrgainmap"

    /// Where headers are: an Exif and an XMP segment at the most, and boxes.
    private static func header(_ file: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: file.prefix(256 << 10))
    }

    private static func holds(_ text: String, in bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe bytes.place(of: text, from: 0) != nil
    }

    /// An item's box holds eight bytes of version, number and protection between its name and its type (ISO/IEC 14496-12).
    private static func holds(_ name: String, before type: String, in bytes: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while let found = unsafe bytes.place(of: name, from: start) {
            if found + 16 <= bytes.count, unsafe bytes[found + 12..<found + 16].elementsEqual(type.utf8) { return true }
            start = found + 1
        }
        return false
    }
}

extension UnsafeRawBufferPointer {
    /// Where `text` is at or behind `start`.
    func place(of text: String, from start: Int) -> Int? { unsafe place(of: Array(text.utf8), from: start) }

    /// Where `text` is at or behind `start`.
    func place(of text: [UInt8], from start: Int) -> Int? {
        guard let base = baseAddress, let first = text.first else { return nil }
        var place = start
        while place <= count - text.count {
            let rest = count - text.count - place + 1
            guard let found = unsafe memchr(base + place, Int32(first), rest) else { return nil }
            place = unsafe UnsafeRawPointer(found) - base
            if unsafe memcmp(found, text, text.count) == 0 { return place }
            place += 1
        }
        return nil
    }
}
