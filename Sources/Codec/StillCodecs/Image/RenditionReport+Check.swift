import SatchelCore
import GIF

extension RenditionReport {
    /// Compares this report of a still, a GIF or a WebP with what the file's headers say to a reader that didn't write them.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading.
    ///   - hasAlpha: Whether there is alpha; nil where both are right, as of frames that cover only what changes.
    ///   - delays: Milliseconds that each frame of an animation is shown.
    ///   - alike: The frames that the writer may have taken for the one before.
    /// - Returns: Frames of an animation in the file.
    /// - Throws: ``AttachmentError/codecCrashed(reason:)`` where the file can't be read, or is another.
    @discardableResult
    func check(
        _ descriptor: Int32, hasAlpha: Bool? = nil, delays: [Int] = [], alike: Set<Int> = []
    ) throws(AttachmentError) -> Int {
        var found = RenditionReport(role: role, type: type, bytes: try fileBytes(descriptor), note: "")
        var (shown, foundAlpha): ([Int], Bool) = ([], false)
        if type == .gif {
            // libvips stops at some 4,097 frames.
            let file = GIFFile(try readBytes(descriptor, count: Int(found.bytes)), keeping: .max)
            found.size = PixelSize(width: file.width, height: file.height)
            if file.end == .marked, file.lost == 0 { shown = file.frames.map { $0.delay * 10 } }
            foundAlpha = file.frames.contains { $0.transparent != nil }
        } else if let format = type.format.picture {
            let source = try SourceBytes(descriptor, limit: .max)
            let header = try scaling { () throws(VipsFailure) in try source.load(format) }
            found.size = PixelSize(width: header.width, height: header.pageHeight)
            // A single frame is a still.
            shown = header.pages > 1 ? header.integers("delay") ?? [] : [delays.reduce(0, +)].filter { $0 > 0 }
            foundAlpha = header.hasAlpha
        }
        if !shown.isEmpty { found.duration = Double(shown.reduce(0, +)) / 1000 }
        let starts = Set(shown.ends)
        let isWhole = delays.ends.dropLast().enumerated().allSatisfy { alike.contains($0) || starts.contains($1) }
        // What a frame of a GIF can't say is said by frames that change nothing.
        let most = delays.reduce(0) { $0 + 1 + $1 / AnimatedGIF.longest / 10 }
        guard found.bytes == bytes, found.size == size, found.duration == duration, isWhole,
            delays.isEmpty || shown.count <= most, hasAlpha == nil || hasAlpha == foundAlpha
        else {
            let what = "\(found), \(shown.count) frames, \(foundAlpha ? "with" : "without") alpha"
            throw .codecCrashed(reason: "the \(type.format.name) that was written isn't what is reported: \(what)")
        }
        return shown.count
    }
}
