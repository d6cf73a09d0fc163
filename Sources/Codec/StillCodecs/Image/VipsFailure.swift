package import SatchelCore
import CVips

/// What libvips said when an operation failed; for the log, not for the sender.
package struct VipsFailure: Error, Hashable {
    var text: String

    /// Takes what is in libvips' error buffer, and clears it.
    static func current() -> VipsFailure {
        let text = unsafe String(cString: vips_error_buffer())
        vips_error_clear()
        return VipsFailure(text: text)
    }

    /// The error where an operation, or an option of one, is missing: that libvips is older than the one this was written for.
    /// Nil where it failed for anything else.
    var lack: AttachmentError? {
        let line = text.split(separator: "\n").first {
            $0.contains("no property named") || $0.contains("class \"") && $0.contains("not found")
        }
        return line.map { .unsupported(.oldLibrary, String($0)) }
    }

    /// What is said of a file that ends too early.
    package static func cut(_ format: String) -> AttachmentError {
        .unreadable(Finding(.endsBefore, .picture, named: "\(format) picture"))
    }

    /// The failure as the sender's error: `format` could not be decoded.
    func damage(of format: String) -> AttachmentError {
        // What was stopped looks like damage.
        if WorkTime.isUp { return WorkTime.failure }
        if let refusal = NewerFeature.refusal(of: self.text) ?? lack { return refusal }
        let text = self.text.lowercased()
        // libheif calls its limits a failure to get memory.
        if text.contains("number of sequence frames exceeded") {
            return .unreadable(Finding(.malformed, .picture, named: "count of frames"))
        }
        let isOfMemory =
            text.contains("memory")
            && ["out of", "alloc", "not enough", "insufficient"].contains(where: text.contains)
        if isOfMemory || text.contains("security limit exceeded") {
            return .tooExpensive(resource: "memory", granted: "share")
        }
        if let refusal = UnsupportedPicture.refusal(of: format, saying: text) { return refusal }
        let signsOfAnEnd = [
            "premature", "truncated", "unexpected end", "end of file", "end of stream", "eof", "read error",
            "too short", "not enough data", "incomplete",
        ]
        if signsOfAnEnd.contains(where: text.contains) {
            return Self.cut(format)
        }
        return .unreadable(Finding(.notDecoded, .picture, named: format, by: "libvips \(Libvips.version)"))
    }
}
