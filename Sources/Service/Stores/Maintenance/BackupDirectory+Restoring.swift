public import SatchelCore
internal import Bytes
internal import SystemPackage
internal import Platform
internal import FoundationEssentials
internal import Glibc

/// What a restore brought back.
public struct RestoreReport: Hashable, Sendable {
    public var blobs = 0
    public var bytes: Int64 = 0
    /// Sources of jobs that wait or can be tried again.
    public var sources = 0
    /// Their bytes are not those that were stored: they were left out.
    public var damaged: [BlobName] = []
    /// The backup doesn't have them.
    public var missing: [BlobName] = []
    /// Keys that the records need and that aren't where the store would look for them.
    public var missingKeys: Set<String> = []
    /// Whether there are any keys.
    public var hasKeys = false
}

extension BackupDirectory {
    /// Makes a store of the backup, every blob of which is compared with its hash. It is a store, whole, when this returns;
    /// killed before, it is none, and can be restored again.
    ///
    /// - Parameters:
    ///   - directory: Nothing is there, or a store in which nothing is.
    ///   - keys: Where the keys of tokens are, which aren't touched.
    /// - Throws: ``StoreError``, before anything is replaced where the records are damaged; an ``AttachmentError`` of a disk that is full or fails.
    public func restore(to directory: String, keys: String) async throws -> RestoreReport {
        let references = try await BlockingWork.run { [self] () throws(StoreError) in
            try SQLiteEngine.check(at: records.string)
            return try SQLiteEngine.references(at: records.string)
        }
        let lock = try await BlockingWork.run { () throws(StoreError) in try Store.makeVacant(at: directory) }
        defer { withExtendedLifetime(lock) {} }
        var report = RestoreReport(sources: references.sources.count)
        let target = FilePath(directory)
        let blobs = FileBlobStore(store: target)
        let sources = FileSourceStore(directory: target.appending("spool"))
        for blob in references.blobs {
            guard let found = try await self.blobs.digest(of: blob.name) else {
                report.missing.append(blob.name)
                continue
            }
            guard found.sha256 == blob.sha256, found.bytes == blob.bytes else {
                report.damaged.append(blob.name)
                continue
            }
            _ = try await blobs.adopt(blob, from: self.blobs)
            report.blobs += 1
            report.bytes += blob.bytes
        }
        for source in references.sources {
            do {
                try await sources.adopt(source, from: self.sources)
            } catch {
                guard error.code == .notInStore else { throw error }
                report.sources -= 1
            }
        }
        let lost = report.damaged + report.missing
        try await BlockingWork.run { [self] () throws(StoreError) in
            do throws(SystemError) {
                let new = target.appending("records.new")
                try Files.remove(new)
                try Files.copy(try Files.open(records, .readOnly, to: "open the backup's records"), to: new)
                do throws(StoreError) { try SQLiteEngine.markDamaged(lost, at: new.string) } catch {
                    _ = try? Files.remove(new)
                    throw SystemError("\(error)", code: EIO)
                }
                try blobs.syncNames()
                try sources.syncNames()
                try Files.rename(new, to: target.appending("records.sqlite"), to: "put the records in place")
                try Files.syncDirectory(target)
            } catch {
                throw StoreError(error, at: directory)
            }
        }
        let there = try KeyFile(path: keys).load()?.keys.map(\.kid)
        report.hasKeys = there != nil
        report.missingKeys = references.keys.subtracting(there ?? [])
        return report
    }
}
