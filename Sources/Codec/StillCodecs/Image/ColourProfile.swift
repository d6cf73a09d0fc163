import CVips

/// Facts about an ICC profile that are read from its header and tags.
enum ColourProfile {
    /// Returns whether a profile calls itself sRGB, so that a conversion would change nothing visible.
    ///
    /// Looks for `sRGB` as ASCII or UTF-16 in the first kilobytes, where the description lies.
    static func isStandard(_ profile: UnsafeRawBufferPointer) -> Bool {
        // The first 128 bytes are the header; its device attributes may hold anything.
        let head = unsafe [UInt8](profile.prefix(4096).dropFirst(128))
        return contains(Array("sRGB".utf8), in: head, stride: 1) || contains(Array("sRGB".utf8), in: head, stride: 2)
    }

    /// Whether a profile leads from pixels of these colours to what can be shown, by its header (ICC.1:2022, 7.2): devices of one
    /// color space have profiles, links between two and lists of names don't. What has no header is the decoder's to judge.
    static func fits(_ profile: UnsafeRawBufferPointer, _ interpretation: VipsInterpretation) -> Bool {
        guard unsafe profile.count >= 128 && number(profile, at: 0) <= profile.count else { return true }
        let (kind, space) = unsafe (text(profile, at: 12), text(profile, at: 16))
        guard !["link", "abst", "nmcl"].contains(kind) else { return false }
        return switch interpretation {
        case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: space == "GRAY"
        case VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_scRGB:
            space == "RGB "
        case VIPS_INTERPRETATION_CMYK: space == "CMYK"
        default: true
        }
    }

    private static func text(_ profile: UnsafeRawBufferPointer, at place: Int) -> String {
        unsafe String(decoding: profile[place..<place + 4], as: UTF8.self)
    }

    private static func contains(_ word: [UInt8], in bytes: [UInt8], stride: Int) -> Bool {
        let last = bytes.count - (word.count - 1) * stride
        guard last > 0 else { return false }
        return (0..<last).contains { at in
            word.indices.allSatisfy { bytes[at + $0 * stride] == word[$0] }
        }
    }
}
