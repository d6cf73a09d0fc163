public import Attachments
internal import SystemPackage
internal import Platform
internal import Glibc

/// Uploads are written where sources are, under the name that they have then: nothing is moved when they are whole.
extension FileSourceStore: UploadFiles {
    public func resume(_ name: SourceName, at offset: Int64) async throws(AttachmentError) -> Descriptor? {
        let path = try path(of: name)
        let number = try await BlockingWork.run { () throws(AttachmentError) -> Int32? in
            try Self.hold(open(path, makesOne: offset == 0), from: offset)?.release()
        }
        return number.map { Descriptor(owning: $0) }
    }

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
    ) throws(AttachmentError) -> Descriptor? {
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
        return file
    }
}
