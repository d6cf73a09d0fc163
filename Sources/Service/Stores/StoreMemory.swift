internal import SatchelCore
internal import Bytes
internal import SystemPackage
internal import Platform
internal import FoundationEssentials
internal import GRDB

/// A store in memory. Each ``Store`` that is opened in it is like another process.
public final class StoreMemory: Sendable {
    let records: DatabaseQueue
    /// The count of revocations; nil if each read has to ask the records.
    let revocations: RevocationCounter?
    let blobs = MemoryBlobStore()
    let sources = MemorySourceStore()
    /// Holds what needs files: sources that are being received, locks of workers and the keys of tokens. It goes with this
    /// value.
    let directory: String

    /// - Parameter countsRevocations: False makes the records behave like those of several machines, which have to be asked
    ///   what was taken back.
    public init(countsRevocations: Bool = true) throws(StoreError) {
        directory = FileManager.default.temporaryDirectory.path + "/satchel-" + UUID().uuidString.lowercased()
        do {
            let path = FilePath(directory)
            try Files.makeDirectory(path)
            for name in ["spool", "workers"] { try Files.makeDirectory(path.appending(name)) }
            revocations = countsRevocations ? try RevocationCounter(path: path.appending("revocations")) : nil
            records = try SQLiteEngine.connectInMemory(
                workers: WorkerLocks(directory: path.appending("workers")))
        } catch {
            throw StoreError(error, at: directory)
        }
    }

    deinit {
        // If this fails, the directory stays until temporary files are cleaned.
        try? FileManager.default.removeItem(atPath: directory)
    }
}
