public import SatchelCore
internal import Bytes
internal import Platform
internal import SystemPackage

/// What a backup took.
public struct BackupReport: Hashable, Sendable {
    /// Blobs that records refer to.
    public var blobs = 0
    public var bytes: Int64 = 0
    /// Blobs that an earlier backup didn't have.
    public var newBlobs = 0
    /// Sources of jobs that wait or can be tried again.
    public var sources = 0
    /// Records refer to them, and the store doesn't have them.
    public var missing: [BlobName] = []
}

/// What the records of one moment refer to.
struct StoreReferences: Sendable {
    var blobs: [CommittedBlob]
    var sources: [SourceName]
    /// Keys that live tokens were derived with, and the headers of unfinished jobs encrypted.
    var keys: Set<String>
}

extension Store {
    /// Copies all of the store but the keys, as it is at one moment, while others use it. It is the new backup, whole and
    /// checked, when this returns; until then the directory holds what it held before. It shares no file with the store.
    ///
    /// What is deleted meanwhile stays until the next sweep.
    ///
    /// - Throws: ``StoreError/malformed(path:faults:)``, ``StoreError/noRoom(path:needed:free:)``; `store_failed` also
    ///   where the store can't be copied; `store_full`.
    public func backup(into backup: BackupDirectory) async throws -> BackupReport {
        guard let engine = records.engine as? SQLiteEngine, let removals else {
            throw AttachmentError.storeFailed(
                reason: "only a store that keeps its bytes in its directory can be backed up")
        }
        // From here on nothing goes that the records of the moment below may refer to.
        let held = try await BlockingWork.files { () throws(SystemError) in try removals.hold() }
        defer { withExtendedLifetime(held) {} }
        let references: StoreReferences
        do {
            references = try await engine.snapshot(to: backup.newRecords.string, at: records.now())
            try await BlockingWork.run { try SQLiteEngine.check(at: backup.newRecords.string) }
            try await findRoom(for: references, in: backup)
        } catch {
            _ = try? Files.remove(backup.newRecords)
            throw error
        }
        var report = BackupReport(blobs: references.blobs.count, sources: references.sources.count)
        for blob in references.blobs {
            report.bytes += blob.bytes
            do {
                if try await backup.blobs.adopt(blob, from: blobs) { report.newBlobs += 1 }
            } catch {
                guard error.code == .notInStore else { throw error }
                report.missing.append(blob.name)
            }
        }
        for source in references.sources {
            do {
                try await backup.sources.adopt(source, from: sources)
            } catch {
                // Its job fails with that in the store as well.
                guard error.code == .notInStore else { throw error }
                report.sources -= 1
            }
        }
        try await backup.finish(keeping: references)
        return report
    }

    /// Compares what has to be copied with the free space, unless copies are clones, which need none.
    private func findRoom(for references: StoreReferences, in backup: BackupDirectory) async throws {
        var needed: Int64 = 0
        var isCloned = false
        func add(_ file: consuming Descriptor?) throws(SystemError) {
            guard let file, !isCloned else { return }
            needed += (try Files.size(of: file) + 4095) & ~4095
            if needed > 0 { isCloned = Files.canClone(file, into: FilePath(backup.path)) }
        }
        do {
            for blob in references.blobs { try add(try? await backup.blobs.missing(blob, from: blobs)) }
            for source in references.sources { try add(try? await backup.sources.missing(source, from: sources)) }
            let free = try Files.freeBytes(at: FilePath(backup.path))
            guard isCloned || needed <= free else {
                throw StoreError.noRoom(path: backup.path, needed: needed, free: free)
            }
        } catch let error as SystemError {
            throw StoreError(error, at: backup.path)
        }
    }
}
