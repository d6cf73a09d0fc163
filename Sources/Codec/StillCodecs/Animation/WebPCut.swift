/// Where an animated WebP ends too early, and what is missing of it.
struct WebPCut: Hashable, Sendable {
    /// Bytes that are whole chunks.
    private(set) var end = 12
    /// Frames that the file's own size leaves room for behind that, by the size of those before; 0 where only metadata is cut.
    private(set) var missing = 0

    /// Nil where nothing is missing, and of what is no animation.
    init?(_ file: UnsafeRawBufferPointer) {
        guard file.count > 30, unsafe WebPChunks.name(in: file, at: 0) == "RIFF",
            unsafe WebPChunks.name(in: file, at: 8) == "WEBP"
        else {
            return nil
        }
        let announced = 8 + (unsafe file[4..<8].littleEndian)
        var frames = 0
        var isAnimated = false
        var last = ""
        while end + 8 <= file.count, end + 8 <= announced {
            last = unsafe WebPChunks.name(in: file, at: end)
            let size = unsafe file[end + 4..<end + 8].littleEndian
            let next = end + 8 + size + size % 2
            guard next <= file.count else { break }
            if last == "ANIM" { isAnimated = true }
            if last == "ANMF" { frames += 1 }
            end = next
            last = ""
        }
        guard isAnimated, announced > file.count else { return nil }
        guard last.isEmpty || last == "ANMF" || frames == 0 else { return }
        missing = max(1, (announced - end) * frames / max(1, end))
    }

    /// Makes the file end where it can be read to.
    func apply(to file: UnsafeMutableRawBufferPointer) {
        unsafe WebPChunks.set(end - 8, at: 4, in: file)
    }
}
