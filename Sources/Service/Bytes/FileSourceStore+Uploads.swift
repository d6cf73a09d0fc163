public import SatchelCore
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import SystemPackage

/// Uploads are written where sources are, under the name that they have then: nothing is moved when they are whole.
extension FileSourceStore: UploadFiles {
    public func newUploadName() -> SourceName { Self.newName() }

    public func resume(_ upload: UploadRecord) async throws(AttachmentError) -> ArrivedBytes? {
        let path = try path(of: upload.source)
        return try await BlockingWork.run { () throws(AttachmentError) in
            try Self.hold(open(path, makesOne: upload.offset == 0), from: upload.offset)
        }
    }

    public func keep(
        _ arrived: ArrivedBytes, upTo offset: Int64, of upload: UploadRecord, _ pause: UploadPause
    ) async throws(AttachmentError) -> KeptBytes {
        // The kernel may have dropped what it couldn't write, so that nothing more may be told of it.
        try await BlockingWork.run { () throws(AttachmentError) in
            guard fdatasync(arrived.file.reader.number) == 0 else {
                throw AttachmentError(SystemError("make an upload durable"))
            }
        }
        return KeptBytes(to: offset)
    }

    public func discard(_ parts: [UploadParts.Part], of upload: UploadRecord) {}

    public func finish(_ upload: UploadRecord) {}

    private func open(_ path: FilePath, makesOne: Bool) throws(AttachmentError) -> Descriptor {
        do throws(SystemError) {
            let isThere = try Files.facts(of: path) != nil
            let file = try Files.open(
                path, .readWrite, isThere || !makesOne ? .noFollow : [.create, .noFollow],
                permissions: .ownerReadWrite, to: "open an upload")
            if !isThere { try Files.syncDirectory(directory) }
            return file
        } catch {
            guard error.code == ENOENT else { throw AttachmentError(error) }
            throw .notInStore(what: "The upload")
        }
    }

    /// Has a file alone, leaves of it what was recorded, and stands behind that.
    ///
    /// - Returns: Nil where another has it.
    static func hold(
        _ file: consuming Descriptor, from offset: Int64
    ) throws(AttachmentError) -> ArrivedBytes? {
        // It goes with the descriptor, also where the process is killed.
        if flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            guard errno != EWOULDBLOCK else { return nil }
            throw AttachmentError(SystemError("lock an upload"))
        }
        do throws(SystemError) {
            let bytes = try Files.size(of: file)
            guard bytes >= offset else { throw SystemError("find an upload", code: ENODATA) }
            if bytes > offset, ftruncate(file.number, off_t(offset)) != 0 { throw SystemError("cut an upload") }
            guard lseek(file.number, off_t(offset), SEEK_SET) == off_t(offset) else {
                throw SystemError("open an upload")
            }
        } catch {
            guard error.code == ENODATA else { throw AttachmentError(error) }
            throw AttachmentError.notInStore(what: "The upload")
        }
        return ArrivedBytes(ScratchFile(reader: file), keptInPlace: true)
    }
}
