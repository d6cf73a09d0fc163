import API
import SatchelCore
import Foundation

/// The files that a preview is made of.
struct PreviewFiles: Sendable {
    let payload: String
    let format: PayloadFormat
    let category: String?
    /// By identifier.
    let attachments: [AttachedFile]

    /// Bytes of a payload or a category that are worth reading: more than either may have.
    private static let limit = 1 << 20

    /// For people: `push.json, red.json`.
    var names: String { ([payload, category] + attachments.map(\.path)).compactMap(\.self).joined(separator: ", ") }

    /// What they hold now.
    ///
    /// - Throws: ``CommandFailure``, one sentence for the first that can't be read.
    func contents() throws -> LivePreview.Contents {
        LivePreview.Contents(
            payload: try Self.bytes(of: payload), format: format, category: try category.map(Self.bytes),
            attachments: try attachments.map { try $0.submission })
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            return Array(try file.read(upToCount: limit) ?? Data())
        } catch {
            throw CommandFailure("'\(path)' can't be read; check the path and its mode.", status: 2)
        }
    }
}
