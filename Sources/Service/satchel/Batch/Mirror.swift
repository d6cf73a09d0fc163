import SatchelCore
internal import Stores
import Foundation
import Ingest
import Platform
import S3

/// Writes renditions to a mirror of the sources' tree: `2024/IMG_0042.HEIC.main.jpg`.
///
/// Each file appears complete or not at all. The mirror never is, contains or links to a source.
struct Mirror: Sendable {
    private let target: any MirrorTarget
    /// Whether sources are objects, several of whose keys may map to the same path.
    private let takesKeys: Bool

    init(_ target: any MirrorTarget, ofKeys takesKeys: Bool = false) {
        self.target = target
        self.takesKeys = takesKeys
    }

    /// The files written for one source.
    struct Written {
        /// The path of each file, relative to the mirror.
        var files: [RenditionRole: String] = [:]
        /// The error of the first file that could not be written.
        var failure: LineError?
        /// The reason for which a bucket or the store could not be reached. Another attempt may succeed.
        var outage: String?
    }

    /// The reason for which a file can't be written, as a clause, and whether another attempt may succeed.
    private static func failure(_ error: any Error) -> (reason: String, isOutage: Bool) {
        switch error {
        case let error as S3Error: (error.reason, error.isPassing)
        case let error as CopyFailure: (error.cause.reason, false)
        case let error as SystemError: (error.reason, false)
        case let error as AttachmentError where error.code != .notInStore: (error.description, error.isOfStore)
        default: ("its bytes are no longer in the store", false)
        }
    }

    /// Writes the missing renditions of a source, even if one of them fails.
    ///
    /// - Parameters:
    ///   - shown: The source's path as reported. In the mirror it is relative, `..` becomes `__`, and names that are too long
    ///     are shortened.
    ///   - isNew: Whether the renditions are new, so that none can exist.
    /// - Throws: An error of the records. Files that can't be written are in the result.
    func write(
        _ renditions: [RenditionRole: Rendition], of attachment: AttachmentID, at shown: Data, isNew: Bool,
        from records: RecordStore
    ) async throws -> Written {
        var written = Written()
        let stem = stem(of: shown)
        for (role, rendition) in renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let name = stem + Data(Self.suffix(role, rendition.mediaType).utf8)
            if await !target.has(name, rendition, isNew: isNew) {
                let blob = try await records.blob(of: role, of: attachment, tenant: .local)
                do {
                    guard let blob else { throw AttachmentError.notInStore(what: "This rendition") }
                    try await target.put(blob, rendition, as: name)
                } catch {
                    let (reason, isOutage) = Self.failure(error)
                    if isOutage { written.outage = reason }
                    let failure = "'\(name.displayPath)' could not be written to \(target.what)"
                    let advice = "Fix the problem and run the command again."
                    written.failure =
                        written.failure ?? LineError(.outputFailed, message: "\(failure): \(reason). \(advice)")
                    continue
                }
            }
            written.files[role] = String(decoding: name, as: UTF8.self)
        }
        return written
    }

    /// The part of the name before the role, which is unique for each source.
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

/// The place of a mirror.
protocol MirrorTarget: Sendable {
    /// The name in messages: `the output directory`.
    var what: String { get }

    /// Returns a valid path of these components, with room for `suffix` more bytes.
    func fitting(_ components: [Data], beside suffix: Int) -> Data

    /// Whether a file with the size of the rendition exists.
    func has(_ name: Data, _ rendition: Rendition, isNew: Bool) async -> Bool

    /// Writes a rendition completely or not at all.
    func put(_ blob: BlobName, _ rendition: Rendition, as name: Data) async throws
}
