import Attachments
import Foundation
import Glibc
import Intake

/// Puts renditions into a directory that mirrors the sources' tree: `2024/IMG_0042.HEIC.main.jpg`.
///
/// Every file appears whole or not at all, under a name that the sources can't have: the directory never is, holds or
/// leads to a source.
struct Mirror {
    private let root: URL
    private let blobs: any BlobStore

    /// - Throws: ``CommandFailure`` when the directory can't be made, or is or contains a source.
    init(root: URL, sources: [URL], blobs: any BlobStore) throws {
        do {
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(
                "the output directory '\(root.path(percentEncoded: false))' can't be made: \(SystemErrorText.current).")
        }
        self.root = root.resolvingSymlinksInPath()
        self.blobs = blobs
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

    /// Writes what is missing of a line's renditions.
    ///
    /// - Parameter shown: The source's path as it is reported. Beneath the mirror it is relative, and `..` becomes
    ///   `__`, so that nothing is written elsewhere.
    /// - Returns: The path of each file beneath the mirror's root.
    func write(
        _ renditions: [RenditionRole: Rendition], of attachment: AttachmentID, at shown: Data,
        from records: any RecordStore
    ) async throws -> [RenditionRole: String] {
        var files: [RenditionRole: String] = [:]
        for (role, rendition) in renditions {
            var name = Self.relative(shown)
            name.append(contentsOf: ".\(role.rawValue).\(rendition.mediaType.fileExtension)".utf8)
            files[role] = String(decoding: name, as: UTF8.self)
            let target = Data(root.path(percentEncoded: false).utf8) + Data("/".utf8) + name
            if Self.size(of: target) == rendition.bytes { continue }
            guard let blob = try await records.blob(of: role, of: attachment, tenant: .local) else {
                throw AttachmentError.notInStore(what: "The attachment \(attachment.rawValue)")
            }
            try Self.copy(try blobs.open(blob), to: target)
        }
        return files
    }

    private static func relative(_ path: Data) -> Data {
        let slash = UInt8(ascii: "/")
        let parent = Data("..".utf8)
        let components: [Data] = path.split(separator: slash).map { Data($0) }.filter { $0 != Data(".".utf8) }
        return Data(components.map { $0 == parent ? Data("__".utf8) : $0 }.joined(separator: [slash]))
    }

    private static func size(of path: Data) -> Int64? {
        var status = stat()
        guard unsafe withPath(path, { unsafe lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int64(status.st_size)
    }

    /// `O_TMPFILE` of Linux on x86-64 and arm64; the header's macro is too complex to be imported.
    private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY

    /// A copy has no name before it is whole, so that one that is cut off leaves nothing.
    private static func copy(_ blob: consuming Descriptor, to target: Data) throws {
        let slash = target.lastIndex(of: UInt8(ascii: "/")) ?? target.startIndex
        let directory = Data(target[..<slash])
        try makeDirectories(directory)
        let number = unsafe withPath(directory) { unsafe open($0, unnamed | O_WRONLY | O_CLOEXEC, 0o644) }
        guard number >= 0 else {
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else { throw failure("write into") }
            return try copyUnderAName(blob, to: target, in: directory)
        }
        let output = Descriptor(owning: number)
        try fill(output, from: blob)
        var linked = link(output, to: target)
        // What an earlier profile made makes way.
        while linked != 0, errno == EEXIST {
            guard unsafe withPath(target, { unsafe unlink($0) }) == 0 || errno == ENOENT else { break }
            linked = link(output, to: target)
        }
        guard linked == 0 else { throw failure("write into") }
    }

    private static func link(_ file: borrowing Descriptor, to target: Data) -> Int32 {
        unsafe withPath(target) {
            unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file.number)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW)
        }
    }

    /// For file systems without unnamed files.
    private static func copyUnderAName(
        _ blob: consuming Descriptor, to target: Data, in directory: Data
    ) throws {
        let temporary = directory + Data("/.satchel-\(UUID().uuidString)".utf8)
        let number = unsafe withPath(temporary) { unsafe open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
        guard number >= 0 else { throw failure("write into") }
        let output = Descriptor(owning: number)
        do {
            try fill(output, from: blob)
            let renamed = unsafe withPath(temporary) { from in
                unsafe withPath(target) { to in unsafe rename(from, to) }
            }
            guard renamed == 0 else { throw failure("write into") }
        } catch {
            _ = unsafe withPath(temporary) { unsafe unlink($0) }
            throw error
        }
    }

    /// Durably, or a power cut could leave the name with half of the bytes.
    private static func fill(_ output: borrowing Descriptor, from blob: borrowing Descriptor) throws {
        do throws(SystemError) {
            try copyFile(blob, to: output)
            guard fsync(output.number) == 0 else { throw SystemError("make a copy durable") }
        } catch {
            throw CommandFailure("cannot write into the output directory: \(error.reason).")
        }
    }

    private static func makeDirectories(_ path: Data) throws {
        for (index, byte) in path.enumerated() where index > 0 && (byte == UInt8(ascii: "/")) {
            try makeDirectory(path.prefix(index))
        }
        try makeDirectory(path)
    }

    private static func makeDirectory(_ path: Data) throws {
        let made = unsafe withPath(path) { unsafe mkdir($0, 0o755) }
        guard made == 0 || errno == EEXIST else { throw failure("make a directory in") }
    }

    private static func failure(_ action: String) -> CommandFailure {
        CommandFailure("cannot \(action) the output directory: \(SystemErrorText.current).")
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
