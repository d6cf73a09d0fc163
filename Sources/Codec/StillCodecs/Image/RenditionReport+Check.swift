import SatchelCore
import GIF

extension RenditionReport {
    /// Compares this report of a still, a GIF or a WebP with what the file's headers say to a reader that didn't write them.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading.
    ///   - hasAlpha: Whether a still has alpha; nil where both are right.
    /// - Throws: ``AttachmentError/codecCrashed(reason:)`` where the file can't be read, or is another.
    func check(_ descriptor: Int32, hasAlpha: Bool? = nil) throws(AttachmentError) {
        var found = RenditionReport(role: role, type: type, bytes: try fileBytes(descriptor), note: "")
        var foundAlpha = hasAlpha
        if type == .gif {
            // libvips stops at some 4,097 frames.
            let file = GIFFile(try readBytes(descriptor, count: Int(found.bytes)), keeping: .max)
            let delays = file.frames.reduce(0) { $0 + $1.delay }
            found.size = PixelSize(width: file.width, height: file.height)
            if file.end == .marked, file.lost == 0 { found.duration = Double(delays * 10) / 1000 }
        } else if let format = type.format.picture {
            let source = try SourceBytes(descriptor, limit: .max)
            let header = try scaling { () throws(VipsFailure) in try source.load(format) }
            found.size = PixelSize(width: header.width, height: header.pageHeight)
            if header.pages > 1 { found.duration = Double((header.integers("delay") ?? []).reduce(0, +)) / 1000 }
            if hasAlpha != nil { foundAlpha = header.hasAlpha }
        }
        // Frames that are alike may have become one, which is a still.
        let mayBeOne = type == .webp && hasAlpha == nil && found.duration == nil
        let lasts = mayBeOne ? duration : found.duration
        guard found.bytes == bytes, found.size == size, lasts == duration, foundAlpha == hasAlpha else {
            let what = "\(found), \(foundAlpha == true ? "with" : "without") alpha"
            throw .codecCrashed(reason: "the \(type.format.name) that was written isn't what is reported: \(what)")
        }
    }
}
