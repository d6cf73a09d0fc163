import SatchelCore
import Foundation
import Ingest

/// Puts renditions into a mirror of the sources' tree: `2024/IMG_0042.HEIC.main.jpg`.
///
/// Each appears whole or not at all, under a name that the sources can't have: the mirror never is, holds or leads to a source.
struct Mirror: Sendable {
    private let target: any MirrorTarget
    /// Whether sources are objects, whose keys may be such that several come to the same path.
    private let takesKeys: Bool

    init(_ target: any MirrorTarget, ofKeys takesKeys: Bool = false) {
        self.target = target
        self.takesKeys = takesKeys
    }

    /// What was written for one source.
    struct Written {
        /// The path of each file beneath the mirror's root.
        var files: [RenditionRole: String] = [:]
        /// Of the first one that could not be.
        var failure: LineError?
    }

    /// Why one can't be written, as a clause.
    struct WriteFailure: Error {
        var reason: String
    }

    /// Writes what is missing of a line's renditions, each whether or not another could be.
    ///
    /// - Parameters:
    ///   - shown: The source's path as it is reported. Beneath the mirror it is relative, and `..` becomes `__`, so that
    ///     nothing is written elsewhere; names are shortened that would be too long.
    ///   - isNew: Whether they were made just now, so that none is there.
    /// - Throws: What the records threw; what can't be written is in the answer.
    func write(
        _ renditions: [RenditionRole: Rendition], of attachment: AttachmentID, at shown: Data, isNew: Bool,
        from records: any JobRecords
    ) async throws -> Written {
        var written = Written()
        let stem = stem(of: shown)
        for (role, rendition) in renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let name = stem + Data(Self.suffix(role, rendition.mediaType).utf8)
            if await !target.has(name, rendition, isNew: isNew) {
                let blob = try await records.blob(of: role, of: attachment, tenant: .local)
                do throws(WriteFailure) {
                    guard let blob else { throw WriteFailure(reason: "its bytes are not in the store any more") }
                    try await target.put(blob, rendition, as: name)
                } catch {
                    let failure = "'\(name.displayPath)' could not be written into \(target.what)"
                    let advice = "Correct that, and run the same command again."
                    written.failure =
                        written.failure ?? LineError(.outputFailed, message: "\(failure): \(error.reason). \(advice)")
                    continue
                }
            }
            written.files[role] = String(decoding: name, as: UTF8.self)
        }
        return written
    }

    /// What stands before the role: the same for all renditions of a source, and another for each source.
    private func stem(of path: Data) -> Data {
        let slash = UInt8(ascii: "/")
        let parent = Data("..".utf8)
        var components: [Data] = path.split(separator: slash).map { Data($0) }.filter { $0 != Data(".".utf8) }
            .map { $0 == parent ? Data("__".utf8) : $0 }
        if takesKeys, Data(components.joined(separator: [slash])) != path, let last = components.popLast() {
            components.append(FittingName.marked(last, as: path))
        }
        return target.fitting(components, beside: Self.longestSuffix)
    }

    private static func suffix(_ role: RenditionRole, _ type: MediaType) -> String {
        ".\(role.rawValue).\(type.fileExtension)"
    }

    private static let longestSuffix =
        2 + (RenditionRole.allCases.map(\.rawValue.utf8.count).max() ?? 0)
        + (MediaType.allCases.map(\.fileExtension.utf8.count).max() ?? 0)
}

/// Where a mirror is.
protocol MirrorTarget: Sendable {
    /// As it is called in a sentence: `the output directory`.
    var what: String { get }

    /// The path of these components that can be a name there, with so many bytes behind it.
    func fitting(_ components: [Data], beside suffix: Int) -> Data

    /// Whether a rendition is there, as far as its size tells.
    func has(_ name: Data, _ rendition: Rendition, isNew: Bool) async -> Bool

    /// Writes a rendition, whole or not at all.
    func put(_ blob: BlobName, _ rendition: Rendition, as name: Data) async throws(Mirror.WriteFailure)
}
