import SatchelCore
import Crypto

/// A file that pages need, embedded in the executable. Its path has its hash, so that whoever has it never asks again.
struct Asset: Sendable {
    /// Such as `preview.css`.
    let name: String
    let mediaType: String
    let bytes: [UInt8]
    /// `/assets/preview-1f0c….css`
    let path: String

    private init(_ name: String, _ mediaType: String, _ bytes: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.bytes = bytes
        let hash = SHA256.hash(data: bytes).prefix(8).hexadecimal
        let parts = name.split(separator: ".", maxSplits: 1)
        path = Self.directory + "\(parts[0])-\(hash).\(parts.count > 1 ? parts[1] : "")"
    }

    private static let directory = "/assets/"

    static let previewStyle = Asset("preview.css", "text/css; charset=utf-8", EmbeddedFile.previewStyle)
    static let previewScript = Asset("preview.js", "text/javascript; charset=utf-8", EmbeddedFile.previewScript)
    static let consoleStyle = Asset("console.css", "text/css; charset=utf-8", EmbeddedFile.consoleStyle)
    static let consoleScript = Asset("console.js", "text/javascript; charset=utf-8", EmbeddedFile.consoleScript)

    static let documentationScript = Asset(
        "docs.js", "text/javascript; charset=utf-8", EmbeddedFile.documentationScript)

    static let all = [previewStyle, previewScript, consoleStyle, consoleScript, documentationScript]

    /// The one whose path ends so.
    static func at(_ name: String) -> Asset? {
        all.first { $0.path == directory + name }
    }
}
