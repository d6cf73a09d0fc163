/// The chunks of a WebP file, freed of what is no picture.
enum WebPChunks {
    private static let pictures: Set = ["VP8X", "ANIM", "ANMF", "ALPH", "VP8 ", "VP8L"]
    /// Of VP8X: what the file has of alpha and animation; the others promise a profile, EXIF and XMP.
    private static let pictureFlags: UInt8 = 0x12

    /// Moves the chunks that show something to the front, and corrects the header.
    ///
    /// - Returns: The bytes that are left; all of them where the file is no sound WebP.
    static func keepPictures(in file: UnsafeMutableRawBufferPointer) -> Int {
        var kept = 12
        var position = 12
        while position + 8 <= file.count {
            let size = unsafe number(in: file, at: position + 4)
            let end = position + 8 + size + size % 2
            guard end <= file.count else { return file.count }
            let name = unsafe String(decoding: file[position..<position + 4], as: UTF8.self)
            if pictures.contains(name) {
                if name == "VP8X", size > 0 { unsafe file[position + 8] &= pictureFlags }
                if kept != position {
                    for index in position..<end { unsafe file[kept + index - position] = file[index] }
                }
                kept += end - position
            }
            position = end
        }
        guard position == file.count else { return file.count }
        for byte in 0..<4 { unsafe file[4 + byte] = UInt8(truncatingIfNeeded: (kept - 8) >> (8 * byte)) }
        return kept
    }

    /// Says of a still's pixels that end with the file that they end there, so that what there is can be decoded.
    ///
    /// - Returns: Whether they do.
    static func endWithFile(_ file: UnsafeMutableRawBufferPointer) -> Bool {
        var position = 12
        while position + 8 < file.count {
            let size = unsafe number(in: file, at: position + 4)
            let rest = file.count - position - 8
            guard size > rest else {
                position += 8 + size + size % 2
                continue
            }
            let name = unsafe String(decoding: file[position..<position + 4], as: UTF8.self)
            guard name == "VP8 " || name == "VP8L" else { return false }
            // An odd number would have a byte behind it.
            unsafe set(rest & ~1, at: position + 4, in: file)
            unsafe set(position + (rest & ~1), at: 4, in: file)
            return true
        }
        return false
    }

    /// Says of a still's pixels that end with the file that more follow, for a decoder that takes what there is only then.
    static func endBehindFile(_ file: UnsafeMutableRawBufferPointer) {
        var position = 12
        while position + 8 < file.count {
            let end = unsafe position + 8 + number(in: file, at: position + 4)
            if end >= file.count - 1 {
                // As much as any header may lack.
                unsafe set(file.count - position - 8 + (1 << 16), at: position + 4, in: file)
                unsafe set(file.count - 8 + (1 << 16), at: 4, in: file)
                return
            }
            position = end + end % 2
        }
    }

    /// Takes the transparency that is coded by itself out of a still, where it is there as a whole.
    ///
    /// - Returns: Whether there was any.
    static func dropAlpha(from file: UnsafeMutableRawBufferPointer) -> Bool {
        var position = 12
        var flags: Int?
        while position + 8 < file.count {
            let end = unsafe position + 8 + number(in: file, at: position + 4)
            guard end < file.count else { return false }
            switch unsafe String(decoding: file[position..<position + 4], as: UTF8.self) {
            case "VP8X": flags = position + 8
            case "ALPH":
                guard let flags else { return false }
                unsafe file[flags] &= ~0x10
                // What has no meaning is passed over.
                unsafe file[position] = UInt8(ascii: "-")
                return true
            default: break
            }
            position = end + end % 2
        }
        return false
    }

    private static func set(_ value: Int, at place: Int, in file: UnsafeMutableRawBufferPointer) {
        for byte in 0..<4 { unsafe file[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }

    private static func number(in file: UnsafeMutableRawBufferPointer, at position: Int) -> Int {
        (0..<4).reduce(0) { unsafe $0 | Int(file[position + $1]) << (8 * $1) }
    }
}
