import API
import SatchelCore
import Foundation

/// The files of a preview.
struct PreviewFiles: Sendable {
    let payload: String
    let format: PayloadFormat
    let category: String?
    /// Attached files with their identifiers.
    let attachments: [AttachedFile]

    /// The number of bytes to read, more than a payload or category may have.
    private static let limit = 1 << 20

    /// The names for messages: `push.json, red.json`.
    var names: String { ([payload, category] + attachments.map(\.path)).compactMap(\.self).joined(separator: ", ") }

    /// Reads the files.
    ///
    /// - Throws: ``CommandFailure`` for the first file that can't be read.
    func contents() throws -> LivePreview.Contents {
        LivePreview.Contents(
            payload: try Self.bytes(of: payload), format: format, category: try category.map(Self.bytes),
            attachments: try attachments.map { try $0.submission })
    }

    private static func bytes(of path: String) throws -> [UInt8] { try readFile(path, upTo: limit) }
}

/// Reads a file that a command names.
///
/// - Parameters:
///   - path: `-` for standard input, if that is allowed.
///   - limit: The number of bytes after which it stops.
/// - Throws: ``CommandFailure`` if it can't be read.
func readFile(_ path: String, upTo limit: Int, takesInput: Bool = false) throws -> [UInt8] {
    do {
        if path == "-", takesInput { return Array(try FileHandle.standardInput.read(upToCount: limit) ?? Data()) }
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        return Array(try file.read(upToCount: limit) ?? Data())
    } catch {
        throw CommandFailure(
            "'\(path)' can't be read. Check that it exists and that you have permission.", status: .usage)
    }
}
