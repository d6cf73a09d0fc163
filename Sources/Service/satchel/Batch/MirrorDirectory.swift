import SatchelCore
import Foundation
import Glibc
import Ingest
import Platform
import SystemPackage

/// A mirror in a local directory.
struct MirrorDirectory: MirrorTarget {
    let what = "the output directory"
    private let root: URL
    private let blobs: any BlobStore
    /// The maximum length of a name in bytes.
    private let longestName: Int

    /// - Throws: ``CommandFailure`` if the directory can't be created, or is or contains a source.
    init(root: URL, sources: [URL], blobs: any BlobStore) throws {
        do {
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(
                "the output directory '\(root.path(percentEncoded: false))' can't be created: \(SystemErrorText.current).",
                status: .usage)
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
                    "--output '\(own)' is or contains the source '\(path)'. Choose a directory outside the sources.",
                    status: .usage)
            }
        }
    }

    func fitting(_ components: [Data], beside suffix: Int) -> Data {
        let fitting = components.enumerated().map { index, name in
            FittingName.of(name, atMost: index == components.count - 1 ? longestName - suffix : longestName)
        }
        return Data(fitting.joined(separator: [UInt8(ascii: "/")]))
    }

    func has(_ name: Data, _ rendition: Rendition, isNew: Bool) -> Bool {
        let there = try? Files.facts(of: path(of: name))
        return there?.bytes == rendition.bytes && there?.isFile == true
    }

    func put(_ blob: BlobName, _ rendition: Rendition, as name: Data) async throws {
        let target = path(of: name)
        try Files.makeDirectories(
            target.removingLastComponent(), permissions: Self.directoryPermissions, durably: false)
        if try await !copyUnnamed(blob, to: target) { try await copyUnderAName(blob, to: target) }
    }

    private func path(of name: Data) -> FilePath {
        FilePath(root.path(percentEncoded: false)).pushing(FilePath(bytes: name))
    }

    private static let directoryPermissions = FilePermissions(rawValue: 0o755)
    private static let filePermissions = FilePermissions(rawValue: 0o644)

    /// Copies to a file that gets its name once it is complete, so that an interrupted copy leaves nothing.
    ///
    /// - Returns: `false` if the file system does not support this.
    private func copyUnnamed(_ blob: BlobName, to target: FilePath) async throws -> Bool {
        guard
            let output = try? Files.open(
                target.removingLastComponent(), .writeOnly, .unnamed, permissions: Self.filePermissions,
                to: "write a file")
        else { return false }
        try await fill(output, from: blob)
        var code = Files.link(output, to: target)
        // Replaces the file of an earlier profile.
        while code == EEXIST {
            try Files.remove(target)
            code = Files.link(output, to: target)
        }
        return code == 0
    }

    /// Copies to a temporary name and renames it.
    private func copyUnderAName(_ blob: BlobName, to target: FilePath) async throws {
        let temporary = target.removingLastComponent().appending(".satchel-\(UUID().uuidString)")
        let output = try Files.open(
            temporary, .writeOnly, [.create, .exclusiveCreate], permissions: Self.filePermissions, to: "write a file")
        do {
            try await fill(output, from: blob)
            try Files.rename(temporary, to: target, to: "name a file")
        } catch {
            _ = try? Files.remove(temporary)
            throw error
        }
    }

    /// Writes and syncs the bytes, so that a power cut can't leave an incomplete file.
    private func fill(_ output: borrowing Descriptor, from blob: BlobName) async throws {
        try await blobs.write(blob, to: output)
        try Files.sync(output, "a file")
    }
}
