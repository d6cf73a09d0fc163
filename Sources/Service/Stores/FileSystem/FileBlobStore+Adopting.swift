internal import SatchelCore
internal import SystemPackage
internal import Platform

/// How stores of files take over what others hold, for backups: by a second name for the same file where there can be one,
/// else by a copy.
extension FileBlobStore {
    /// Takes over a blob under its own name, which is durable after ``syncNames()``.
    ///
    /// - Returns: False where it was here already.
    func adopt(_ name: BlobName, from other: any BlobStore) async throws(AttachmentError) -> Bool {
        guard let path = path(of: name) else { throw .storeFailed(reason: "a blob's name is not a file name") }
        if try await BlockingWork.files({ () throws(SystemError) in try Files.facts(of: path) != nil }) { return false }
        guard case .file(let file) = try await other.content(of: name, behind: nil) else {
            throw .storeFailed(reason: "its bytes are not in files")
        }
        let number = file.release()
        try await BlockingWork.files { () throws(SystemError) in
            try Files.place(Descriptor(owning: number), at: path, unfinished: FileStagingArea.unfinished)
        }
        return true
    }

    /// Has a blob's name stand for the bytes of a blob of another store, in the place of what is there. It is durable.
    ///
    /// - Returns: False where those are gone.
    func restore(
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
    func syncNames() throws(SystemError) {
        for shelf in Self.shelves {
            let directory = self.directory.appending(shelf)
            _ = try Files.removeAll(in: directory) { name, _ in name.hasSuffix(FileStagingArea.unfinished) }
            try Files.syncDirectory(directory)
        }
    }
}

extension FileSourceStore {
    /// Takes over a source under its own name, which is durable after ``syncNames()``.
    func adopt(_ name: SourceName, from other: any SourceStore) async throws(AttachmentError) {
        let path = try path(of: name)
        if try await BlockingWork.files({ () throws(SystemError) in try Files.facts(of: path) != nil }) { return }
        let number = try await other.open(name).release()
        try await BlockingWork.files { () throws(SystemError) in
            try Files.place(Descriptor(owning: number), at: path, unfinished: FileStagingArea.unfinished)
        }
    }

    /// Makes the names durable of all that was adopted, and removes what was left of copies that were cut off.
    func syncNames() throws(SystemError) {
        _ = try Files.removeAll(in: directory) { name, _ in name.hasSuffix(FileStagingArea.unfinished) }
        try Files.syncDirectory(directory)
    }
}
