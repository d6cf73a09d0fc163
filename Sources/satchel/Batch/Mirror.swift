import Attachments
import Foundation
import Glibc
import Ingest

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
            let target = Data(root.path(percentEncoded: false).utf8) + Data("/".utf8) + name
            if Self.size(of: target) != rendition.bytes {
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

    private static func size(of path: Data) -> Int64? {
        var status = stat()
        guard unsafe withPath(path, { unsafe lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int64(status.st_size)
    }

    /// `O_TMPFILE` of Linux on x86-64 and arm64; the header's macro is too complex to be imported.
    private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY

    /// Why one file can't be written, as a clause.
    private struct WriteFailure: Error {
        var reason: String

        init(reason: String) {
            self.reason = reason
        }

        /// The kernel's word for what went wrong just now.
        init() {
            reason = SystemErrorText.current
        }
    }

    /// A copy has no name before it is whole, so that one that is cut off leaves nothing.
    private func copy(_ blob: BlobName, to target: Data) async throws(WriteFailure) {
        let slash = target.lastIndex(of: UInt8(ascii: "/")) ?? target.startIndex
        let directory = Data(target[..<slash])
        try Self.makeDirectories(directory)
        let number = unsafe withPath(directory) { unsafe open($0, Self.unnamed | O_WRONLY | O_CLOEXEC, 0o644) }
        guard number >= 0 else { return try await copyUnderAName(blob, to: target, in: directory) }
        let output = Descriptor(owning: number)
        try await fill(output, from: blob)
        var linked = Self.link(output, to: target)
        // What an earlier profile made makes way.
        while linked != 0, errno == EEXIST {
            guard unsafe withPath(target, { unsafe unlink($0) }) == 0 || errno == ENOENT else { throw WriteFailure() }
            linked = Self.link(output, to: target)
        }
        // Where links are refused, a name from the beginning.
        if linked != 0 { try await copyUnderAName(blob, to: target, in: directory) }
    }

    private static func link(_ file: borrowing Descriptor, to target: Data) -> Int32 {
        unsafe withPath(target) {
            unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file.number)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW)
        }
    }

    /// For file systems without unnamed files; of whatever else is wrong this tells.
    private func copyUnderAName(
        _ blob: BlobName, to target: Data, in directory: Data
    ) async throws(WriteFailure) {
        let temporary = directory + Data("/.satchel-\(UUID().uuidString)".utf8)
        let number = unsafe withPath(temporary) { unsafe open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
        guard number >= 0 else { throw WriteFailure() }
        let output = Descriptor(owning: number)
        do throws(WriteFailure) {
            try await fill(output, from: blob)
            let renamed = unsafe withPath(temporary) { from in
                unsafe withPath(target) { to in unsafe rename(from, to) }
            }
            guard renamed == 0 else { throw WriteFailure() }
        } catch {
            _ = unsafe withPath(temporary) { unsafe unlink($0) }
            throw error
        }
    }

    /// Durably, or a power cut could leave the name with half of the bytes.
    private func fill(_ output: borrowing Descriptor, from blob: BlobName) async throws(WriteFailure) {
        do {
            try await blobs.write(blob, to: output)
        } catch let error as CopyFailure {
            throw WriteFailure(reason: error.cause.reason)
        } catch let error as AttachmentError where error.code != .notInStore {
            throw WriteFailure(reason: error.description)
        } catch {
            throw WriteFailure(reason: "its bytes are not in the store any more")
        }
        guard fsync(output.number) == 0 else { throw WriteFailure() }
    }

    private static func makeDirectories(_ path: Data) throws(WriteFailure) {
        for (index, byte) in path.enumerated() where index > 0 && (byte == UInt8(ascii: "/")) {
            try makeDirectory(path.prefix(index))
        }
        try makeDirectory(path)
    }

    private static func makeDirectory(_ path: Data) throws(WriteFailure) {
        let made = unsafe withPath(path) { unsafe mkdir($0, 0o755) }
        guard made != 0, errno != EEXIST else { return }
        // A file system that can't be written to refuses before it looks whether there is something.
        let reason = WriteFailure()
        var status = stat()
        guard unsafe withPath(path, { unsafe stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw reason
        }
    }
}

/// Runs `body` with a path's bytes as a C string; a path need not be UTF-8.
func withPath<Value>(_ path: Data, _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    let characters = path.map { CChar(bitPattern: $0) } + [0]
    return unsafe characters.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("the terminator is always there") }
        return unsafe body(base)
    }
}
