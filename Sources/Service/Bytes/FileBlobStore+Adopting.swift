package import SatchelCore
internal import SystemPackage
internal import Platform
internal import Glibc

/// How stores of files take over what others hold, for backups: by clones where the file system can, else by copies.
extension FileBlobStore {
    /// Takes over a blob under its own name, which is durable after ``syncNames()``.
    ///
    /// - Returns: False where a copy of its own was here already.
    /// - Throws: `not_in_store` also where the other's file has another size.
    package func adopt(_ blob: CommittedBlob, from other: any BlobStore) async throws(AttachmentError) -> Bool {
        guard let path = path(of: blob.name), let file = try await missing(blob, from: other) else { return false }
        let number = file.release()
        try await BlockingWork.files { () throws(SystemError) in
            try Files.place(Descriptor(owning: number), at: path, unfinished: FileStagingArea.unfinished)
        }
        return true
    }

    /// The file of a blob in another store; nil if this one has a copy that shares nothing with it.
    package func missing(_ blob: CommittedBlob, from other: any BlobStore) async throws(AttachmentError) -> Descriptor?
    {
        guard let path = path(of: blob.name) else { throw .storeFailed(reason: "a blob's name is not a file name") }
        do throws(AttachmentError) {
            guard case .file(let file) = try await other.content(of: blob.name, behind: nil) else {
                throw .storeFailed(reason: "its bytes are not in files")
            }
            do throws(SystemError) {
                guard try Files.size(of: file) == blob.bytes else { throw SystemError("find a blob", code: ENODATA) }
                if try Files.isCopy(path, of: file) { return nil }
                return consume file
            } catch {
                guard error.code == ENODATA else { throw AttachmentError(error) }
                throw .notInStore(what: "This rendition")
            }
        } catch {
            // An earlier backup may still have it.
            guard error.code == .notInStore, (try? Files.facts(of: path))?.bytes == blob.bytes else { throw error }
            return nil
        }
    }

    /// Has a blob's name stand for the bytes of a blob of another store, in the place of what is there. It is durable.
    ///
    /// - Returns: False where those are gone.
    package func restore(
        _ name: BlobName, from other: BlobName, of store: FileBlobStore
    ) async throws(AttachmentError) -> Bool {
        guard let path = path(of: name) else { return false }
        return try await BlockingWork.run { () throws(AttachmentError) in
            do throws(AttachmentError) {
                let file = try store.open(other)
                do throws(SystemError) {
                    let new = FilePath(path.string + Self.replacement)
                    try Files.remove(new)
                    try Files.place(file, at: new, unfinished: FileStagingArea.unfinished)
                    try Files.rename(new, to: path, to: "bring a blob back")
                    try Files.syncDirectory(shelf(of: name))
                } catch {
                    throw AttachmentError(error)
                }
                return true
            } catch {
                guard error.code == .notInStore else { throw error }
                return false
            }
        }
    }

    /// What the name ends in of a file that is about to take another's place.
    private static let replacement = ".new" + FileStagingArea.unfinished

    /// Makes the names durable of all that was adopted, and removes what was left of copies that were cut off.
    package func syncNames() throws(SystemError) {
        for shelf in Self.shelves {
            let directory = self.directory.appending(shelf)
            _ = try Files.removeAll(in: directory) { name, _ in name.hasSuffix(FileStagingArea.unfinished) }
            try Files.syncDirectory(directory)
        }
    }
}

extension FileSourceStore {
    /// Takes over a source under its own name, which is durable after ``syncNames()``.
    package func adopt(_ name: SourceName, from other: any SourceStore) async throws(AttachmentError) {
        guard let file = try await missing(name, from: other) else { return }
        let (path, number) = (try path(of: name), file.release())
        try await BlockingWork.files { () throws(SystemError) in
            try Files.place(Descriptor(owning: number), at: path, unfinished: FileStagingArea.unfinished)
        }
    }

    /// The file of a source in another store; nil if this one has a copy that shares nothing with it.
    package func missing(_ name: SourceName, from other: any SourceStore) async throws(AttachmentError) -> Descriptor? {
        let path = try path(of: name)
        let file = try await other.open(name)
        do throws(SystemError) { if try Files.isCopy(path, of: file) { return nil } } catch {
            throw AttachmentError(error)
        }
        return consume file
    }

    /// Makes the names durable of all that was adopted, and removes what was left of copies that were cut off.
    package func syncNames() throws(SystemError) {
        _ = try Files.removeAll(in: directory) { name, _ in name.hasSuffix(FileStagingArea.unfinished) }
        try Files.syncDirectory(directory)
    }
}
