import Attachments
import Foundation
import Glibc
import Ingest
import Platform
import SystemPackage

/// Puts renditions into a directory that mirrors the sources' tree: `2024/IMG_0042.HEIC.main.jpg`.
///
/// Every file appears whole or not at all, under a name that the sources can't have: the directory never is, holds or
/// leads to a source.
struct Mirror {
    private let root: URL
    private let blobs: any BlobStore
    /// Bytes that a name may have there.
    private let longestName: Int

    /// - Throws: ``CommandFailure`` when the directory can't be made, or is or contains a source.
    init(root: URL, sources: [URL], blobs: any BlobStore) throws {
        do {
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(
                "the output directory '\(root.path(percentEncoded: false))' can't be made: \(SystemErrorText.current).",
                status: 2)
        }
        self.root = root.resolvingSymlinksInPath()
        self.blobs = blobs
        let answered = unsafe pathconf(self.root.path(percentEncoded: false), Int32(_PC_NAME_MAX))
        longestName = answered > 0 ? min(Int(answered), Int(NAME_MAX)) : Int(NAME_MAX)
        let own = self.root.standardized.path(percentEncoded: false)
        for source in sources {
            let path = source.resolvingSymlinksInPath().standardized.path(percentEncoded: false)
            if (path + "/").replacing("//", with: "/").hasPrefix((own + "/").replacing("//", with: "/")) {
                throw CommandFailure(
                    "--output '\(own)' is or contains the source '\(path)'; choose a directory outside the sources.",
                    status: 2)
            }
        }
    }

    /// What was written for one source.
    struct Written {
        /// The path of each file beneath the mirror's root.
        var files: [RenditionRole: String] = [:]
        /// Of the first one that could not be.
        var failure: LineError?
    }

    /// Writes what is missing of a line's renditions, each whether or not another could be.
    ///
    /// - Parameter shown: The source's path as it is reported. Beneath the mirror it is relative, and `..` becomes
    ///   `__`, so that nothing is written elsewhere; names are shortened that would be too long.
    /// - Throws: What the records threw; a file that can't be written is in the answer.
    func write(
        _ renditions: [RenditionRole: Rendition], of attachment: AttachmentID, at shown: Data,
        from records: any JobRecords
    ) async throws -> Written {
        var written = Written()
        let stem = stem(of: shown)
        for (role, rendition) in renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let name = stem + Data(Self.suffix(role, rendition.mediaType).utf8)
            let target = FilePath(root.path(percentEncoded: false)).pushing(FilePath(bytes: name))
            let there = try? Files.facts(of: target)
            if there?.bytes != rendition.bytes || there?.isFile != true {
                let blob = try await records.blob(of: role, of: attachment, tenant: .local)
                do throws(WriteFailure) {
                    guard let blob else { throw WriteFailure(reason: "its bytes are not in the store any more") }
                    try await copy(blob, to: target)
                } catch {
                    let failure = "'\(name.displayPath)' could not be written into the output directory"
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
        let components: [Data] = path.split(separator: slash).map { Data($0) }.filter { $0 != Data(".".utf8) }
            .map { $0 == parent ? Data("__".utf8) : $0 }
        let fitting = components.enumerated().map { index, name in
            FittingName.of(
                name, atMost: index == components.count - 1 ? longestName - Self.longestSuffix : longestName)
        }
        return Data(fitting.joined(separator: [slash]))
    }

    private static func suffix(_ role: RenditionRole, _ type: MediaType) -> String {
        ".\(role.rawValue).\(type.fileExtension)"
    }

    private static let longestSuffix =
        2 + (RenditionRole.allCases.map(\.rawValue.utf8.count).max() ?? 0)
        + (MediaType.allCases.map(\.fileExtension.utf8.count).max() ?? 0)

    /// Why one file can't be written, as a clause.
    private struct WriteFailure: Error {
        var reason: String
    }

    private func copy(_ blob: BlobName, to target: FilePath) async throws(WriteFailure) {
        do throws(SystemError) {
            try Files.makeDirectories(
                target.removingLastComponent(), permissions: Self.directoryPermissions, durably: false)
        } catch {
            throw WriteFailure(reason: error.reason)
        }
        if try await !copyUnnamed(blob, to: target) { try await copyUnderAName(blob, to: target) }
    }

    private static let directoryPermissions = FilePermissions(rawValue: 0o755)
    private static let filePermissions = FilePermissions(rawValue: 0o644)

    /// A copy has no name before it is whole, so that one that is cut off leaves nothing.
    ///
    /// - Returns: False where there are no such files, or links to them are refused.
    private func copyUnnamed(_ blob: BlobName, to target: FilePath) async throws(WriteFailure) -> Bool {
        guard
            let output = try? Files.open(
                target.removingLastComponent(), .writeOnly, .unnamed, permissions: Self.filePermissions,
                to: "write a file")
        else { return false }
        try await fill(output, from: blob)
        var code = Files.link(output, to: target)
        // What an earlier profile made makes way.
        while code == EEXIST {
            do { try Files.remove(target) } catch { throw WriteFailure(reason: error.reason) }
            code = Files.link(output, to: target)
        }
        return code == 0
    }

    /// Of whatever else is wrong this tells.
    private func copyUnderAName(_ blob: BlobName, to target: FilePath) async throws(WriteFailure) {
        let temporary = target.removingLastComponent().appending(".satchel-\(UUID().uuidString)")
        let output: Descriptor
        do throws(SystemError) {
            output = try Files.open(
                temporary, .writeOnly, [.create, .exclusiveCreate], permissions: Self.filePermissions,
                to: "write a file")
        } catch {
            throw WriteFailure(reason: error.reason)
        }
        do throws(WriteFailure) {
            try await fill(output, from: blob)
            do throws(SystemError) { try Files.rename(temporary, to: target, to: "name a file") } catch {
                throw WriteFailure(reason: error.reason)
            }
        } catch {
            _ = try? Files.remove(temporary)
            throw error
        }
    }

    /// Durably, or a power cut could leave the name with half of the bytes.
    private func fill(_ output: borrowing Descriptor, from blob: BlobName) async throws(WriteFailure) {
        do {
            try await blobs.write(blob, to: output)
            try Files.sync(output, "a file")
        } catch let error as CopyFailure {
            throw WriteFailure(reason: error.cause.reason)
        } catch let error as SystemError {
            throw WriteFailure(reason: error.reason)
        } catch let error as AttachmentError where error.code != .notInStore {
            throw WriteFailure(reason: error.description)
        } catch {
            throw WriteFailure(reason: "its bytes are not in the store any more")
        }
    }
}
