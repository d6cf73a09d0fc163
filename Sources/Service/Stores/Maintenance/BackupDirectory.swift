internal import SatchelCore
internal import Bytes
internal import SystemPackage
internal import Platform
internal import Glibc

/// A directory that a store's backups go to: laid out as a store, but for what only a running one needs.
///
///     BACKUP.txt       says what this is
///     records.sqlite   the records; without them the backup isn't whole
///     blobs/ab/        the bytes that those refer to
///     spool/           sources that wait
///
/// The records come last, by a new name, and what only the ones before refer to goes afterwards: killed at any moment, the
/// directory is either the backup before or the new one. A file that could not be linked has its name once it is whole.
public final class BackupDirectory: Sendable {
    public let path: String
    private let directory: FilePath
    let blobs: FileBlobStore
    let sources: FileSourceStore
    /// Held while it is used.
    private let lock: Descriptor

    private static let mark = "BACKUP.txt"
    private static let explanation = """
        A backup of a Satchel store. To restore it, run: satchel store restore THIS-DIRECTORY
        It does not contain the keys that tokens are derived from.

        """

    var records: FilePath { directory.appending("records.sqlite") }
    var newRecords: FilePath { directory.appending("records.new") }

    /// Opens a directory for a new backup: one that isn't there, is empty, or holds an earlier backup.
    public convenience init(at path: String) throws(StoreError) {
        do throws(SystemError) {
            let directory = FilePath(path)
            let mark = directory.appending(Self.mark)
            if try Files.facts(of: mark) == nil {
                guard try Self.isVacant(directory) else { throw SystemError("back up into '\(path)'", code: ENOTEMPTY) }
                try Files.makeDirectories(directory)
                try Files.write(Array(Self.explanation.utf8), to: mark)
            }
            try FileBlobStore.prepare(directory)
            try Files.makeDirectory(directory.appending("spool"))
            try Files.syncDirectory(directory)
            try self.init(opening: path, LOCK_EX)
            // What one that was cut off has left.
            for ending in ["", "-journal", "-wal", "-shm"] { try Files.remove(FilePath(newRecords.string + ending)) }
        } catch {
            switch error.code {
            case ENOTEMPTY, ENOTDIR: throw .notABackup(path: path)
            case EWOULDBLOCK: throw .inUse(path: path)
            default: throw StoreError(error, at: path)
            }
        }
    }

    /// Opens a backup to restore it.
    ///
    /// - Throws: `notABackup` also where it was never finished.
    public convenience init(existingAt path: String) throws(StoreError) {
        do throws(SystemError) {
            let directory = FilePath(path)
            guard try Files.facts(of: directory.appending(Self.mark)) != nil,
                try Files.facts(of: directory.appending("records.sqlite")) != nil
            else { throw SystemError("find a whole backup", code: ENOENT) }
            try self.init(opening: path, LOCK_SH)
        } catch {
            switch error.code {
            case ENOENT: throw .noBackup(path: path)
            case EWOULDBLOCK: throw .inUse(path: path)
            default: throw StoreError(error, at: path)
            }
        }
    }

    private init(opening path: String, _ lock: Int32) throws(SystemError) {
        self.path = path
        directory = FilePath(path)
        blobs = FileBlobStore(store: directory)
        sources = FileSourceStore(directory: directory.appending("spool"))
        self.lock = try Files.open(directory.appending(Self.mark), .readOnly, to: "open the backup '\(path)'")
        for attempt in 0... {
            if flock(self.lock.number, lock | LOCK_NB) == 0 { return }
            // A process that is just being started holds copies of all locks until its exec: wait for that.
            guard errno == EWOULDBLOCK, attempt < 50 else { throw SystemError("lock the backup '\(path)'") }
            usleep(2_000)
        }
    }

    private static func isVacant(_ path: FilePath) throws(SystemError) -> Bool {
        guard try Files.facts(of: path) != nil else { return true }
        return try Files.names(in: path).isEmpty
    }

    /// Makes the snapshot and all that was taken for it the backup, then drops what it doesn't refer to.
    func finish(keeping references: StoreReferences) async throws(AttachmentError) {
        try await BlockingWork.files { () throws(SystemError) in
            try self.blobs.syncNames()
            try self.sources.syncNames()
            try Files.rename(self.newRecords, to: self.records, to: "put the backup's records in place")
            try Files.syncDirectory(self.directory)
        }
        let needed = Set(references.blobs.map(\.name))
        try await Store.forEachPage(of: blobs.list) { page throws(AttachmentError) in
            try await blobs.remove(page.map(\.name).filter { !needed.contains($0) })
        }
        let waiting = Set(references.sources)
        try await Store.forEachPage(of: sources.list) { page throws(AttachmentError) in
            try await sources.remove(page.map(\.name).filter { !waiting.contains($0) })
        }
    }
}
