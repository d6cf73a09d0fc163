/// Where an animated WebP ends too early, and what is missing of it.
struct WebPCut: Hashable, Sendable {
    /// Bytes that are whole chunks.
    private(set) var end = 12
    /// Frames that the file's own size leaves room for behind that, by the size of those before; 0 where only metadata is cut.
    private(set) var missing = 0

    /// Nil where nothing is missing, and of what is no animation.
    init?(_ file: UnsafeRawBufferPointer) {
        guard file.count > 30, unsafe Self.name(file, 0) == "RIFF", unsafe Self.name(file, 8) == "WEBP" else {
            return nil
        }
        let announced = 8 + (unsafe Self.number(file, 4))
        var frames = 0
        var isAnimated = false
        var last = ""
        while end + 8 <= file.count, end + 8 <= announced {
            last = unsafe Self.name(file, end)
            let size = unsafe Self.number(file, end + 4)
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
        for byte in 0..<4 { unsafe file[4 + byte] = UInt8(truncatingIfNeeded: (end - 8) >> (8 * byte)) }
    }

    private static func name(_ file: UnsafeRawBufferPointer, _ position: Int) -> String {
        unsafe String(decoding: file[position..<position + 4], as: Unicode.ASCII.self)
    }

    private static func number(_ file: UnsafeRawBufferPointer, _ position: Int) -> Int {
        (0..<4).reduce(0) { unsafe $0 | Int(file[position + $1]) << (8 * $1) }
    }
}
