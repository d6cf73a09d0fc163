/// The chunks of a WebP file, freed of what is no picture.
enum WebPChunks {
    private static let pictures: Set = ["VP8X", "ANIM", "ANMF", "ALPH", "VP8 ", "VP8L"]
    /// Of VP8X: what the file has of alpha and animation; the others promise a profile, EXIF and XMP.
    private static let pictureFlags: UInt8 = 0x12

    private struct Chunk {
        var name: String
        var start: Int
        /// The end that its header says, without the byte that makes it even.
        var end: Int
        var body: Int { start + 8 }
        var next: Int { end + end % 2 }
    }

    /// The chunks with a whole header.
    private static func chunks(of file: UnsafeMutableRawBufferPointer) -> UnfoldSequence<Chunk, Int> {
        sequence(state: 12) { (position: inout Int) -> Chunk? in
            guard position + 8 <= file.count else { return nil }
            let read = UnsafeRawBufferPointer(file)
            let chunk = unsafe Chunk(
                name: name(in: read, at: position), start: position,
                end: position + 8 + read[position + 4..<position + 8].littleEndian)
            position = chunk.next
            return chunk
        }
    }

    /// Moves the chunks that show something to the front, and corrects the header.
    ///
    /// - Returns: The bytes that are left; all of them where the file is no sound WebP.
    static func keepPictures(in file: UnsafeMutableRawBufferPointer) -> Int {
        var kept = 12
        var position = 12
        for chunk in unsafe chunks(of: file) {
            guard chunk.next <= file.count else { return file.count }
            if pictures.contains(chunk.name) {
                if chunk.name == "VP8X", chunk.end > chunk.body { unsafe file[chunk.body] &= pictureFlags }
                if kept != chunk.start {
                    for index in chunk.start..<chunk.next { unsafe file[kept + index - chunk.start] = file[index] }
                }
                kept += chunk.next - chunk.start
            }
            position = chunk.next
        }
        guard position == file.count else { return file.count }
        unsafe set(kept - 8, at: 4, in: file)
        return kept
    }

    /// Says of a still's pixels that end with the file that they end there, so that what there is can be decoded.
    ///
    /// - Returns: Whether they do.
    static func endWithFile(_ file: UnsafeMutableRawBufferPointer) -> Bool {
        guard let cut = unsafe chunks(of: file).first(where: { $0.end > file.count }),
            cut.body < file.count, cut.name == "VP8 " || cut.name == "VP8L"
        else { return false }
        // An odd number would have a byte behind it.
        let size = (file.count - cut.body) & ~1
        unsafe set(size, at: cut.start + 4, in: file)
        unsafe set(cut.start + size, at: 4, in: file)
        return true
    }

    /// Says of a still's pixels that end with the file that more follow, for a decoder that takes what there is only then.
    static func endBehindFile(_ file: UnsafeMutableRawBufferPointer) {
        guard let last = unsafe chunks(of: file).first(where: { $0.end >= file.count - 1 }),
            last.body < file.count
        else { return }
        // No header may lack more.
        unsafe set(file.count - last.body + (1 << 16), at: last.start + 4, in: file)
        unsafe set(file.count - 8 + (1 << 16), at: 4, in: file)
    }

    /// Takes the transparency that is coded by itself out of a still, where it is there as a whole.
    ///
    /// - Returns: Whether there was any.
    static func dropAlpha(from file: UnsafeMutableRawBufferPointer) -> Bool {
        var flags: Int?
        for chunk in unsafe chunks(of: file) {
            guard chunk.end < file.count else { return false }
            if chunk.name == "VP8X" { flags = chunk.body }
            guard chunk.name == "ALPH" else { continue }
            guard let flags else { return false }
            unsafe file[flags] &= ~0x10
            // What has no meaning is passed over.
            unsafe file[chunk.start] = UInt8(ascii: "-")
            return true
        }
        return false
    }

    static func set(_ value: Int, at place: Int, in file: UnsafeMutableRawBufferPointer) {
        for byte in 0..<4 { unsafe file[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }

    static func name(in file: UnsafeRawBufferPointer, at position: Int) -> String {
        unsafe String(decoding: file[position..<position + 4], as: Unicode.ASCII.self)
    }
}
