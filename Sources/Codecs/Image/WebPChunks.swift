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

    private static func number(in file: UnsafeMutableRawBufferPointer, at position: Int) -> Int {
        (0..<4).reduce(0) { unsafe $0 | Int(file[position + $1]) << (8 * $1) }
    }
}
