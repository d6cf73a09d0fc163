/// What has to be known of an ICC profile without applying it.
enum ColourProfile {
    /// Whether a profile calls itself sRGB, so that a conversion would change nothing that can be seen.
    ///
    /// Looks for `sRGB` as ASCII or UTF-16 in the first kilobytes, where the description lies.
    static func isStandard(_ profile: UnsafeRawBufferPointer) -> Bool {
        // The first 128 bytes are the header; its device attributes may hold anything.
        let head = unsafe [UInt8](profile.prefix(4096).dropFirst(128))
        return contains(Array("sRGB".utf8), in: head, stride: 1) || contains(Array("sRGB".utf8), in: head, stride: 2)
    }

    private static func contains(_ word: [UInt8], in bytes: [UInt8], stride: Int) -> Bool {
        let last = bytes.count - (word.count - 1) * stride
        guard last > 0 else { return false }
        return (0..<last).contains { at in
            word.indices.allSatisfy { bytes[at + $0 * stride] == word[$0] }
        }
    }
}
