public import SatchelCore
internal import Bytes
internal import Crypto
internal import Platform

/// What a check of all bytes found.
public struct VerifyReport: Hashable, Sendable {
    /// Blobs that were read.
    public var blobs = 0
    public var bytes: Int64 = 0
    /// A record refers to them, and there is no file.
    public var missing: [BlobName] = []
    /// Their bytes are not those that were stored.
    public var damaged: [BlobName] = []
    /// No record refers to them; a sweep removes them.
    public var orphaned: [BlobName] = []
    /// Sources that a job needs, and that are gone.
    public var missingSources: [SourceName] = []
    /// They were missing or damaged, and are whole again.
    public var repaired: [BlobName] = []
    /// The renditions whose blobs are missing or damaged.
    public var affected: [PlacedRendition] = []
    /// Attachments that were deleted because of them.
    public var deleted: [AttachmentID] = []
    /// They were missing, and are there again.
    public var repairedSources: [SourceName] = []

    /// Whether everything that a record still promises is there and whole.
    public var isSound: Bool {
        (missing.isEmpty && damaged.isEmpty
            || !deleted.isEmpty && affected.allSatisfy { deleted.contains($0.attachment) })
            && missingSources.isEmpty
    }
}

extension Store {
    /// Reads every blob and computes its hash anew, and looks whether every source is there. Blobs that are damaged or missing
    /// at the end are not referred to by new deliveries any more.
    ///
    /// - Parameters:
    ///   - isRepairing: Whether to bring back what is damaged or missing: from versions that the store has kept, or from equal
    ///     bytes that the tenant has under another name.
    ///   - backup: Where it is looked for last, by a repair of a store in a directory.
    ///   - isRemoving: Whether to delete the attachments whose renditions are damaged or missing at the end.
    public func verify(
        repairing isRepairing: Bool = false, from backup: BackupDirectory? = nil, removing isRemoving: Bool = false
    ) async throws(AttachmentError) -> VerifyReport {
        // Listed first: what is delivered and deleted meanwhile is neither missing nor orphaned.
        var stored: [BlobName] = []
        try await Self.forEachPage(of: blobs.list) { page throws(AttachmentError) in stored += page.map(\.name) }
        var report = VerifyReport()
        var lost: [(blob: CommittedBlob, isThere: Bool)] = []
        for blob in try await records.referencedBlobs() {
            let found = try await blobs.digest(of: blob.name)
            if let found {
                report.blobs += 1
                report.bytes += found.bytes
                if found.sha256 == blob.sha256, found.bytes == blob.bytes { continue }
            }
            lost.append((blob, found != nil))
        }
        // One that was repaired may be what another is repaired from.
        var isGoingOn = isRepairing
        while isGoingOn {
            let before = lost
            lost = []
            for one in before {
                if try await repair(one.blob, from: backup) {
                    report.repaired.append(one.blob.name)
                } else {
                    lost.append(one)
                }
            }
            isGoingOn = lost.count < before.count
        }
        // What was deleted meanwhile is none, and what was brought back all the same goes again.
        let deleted = Set(try await records.unreferenced(among: lost.map(\.blob.name) + report.repaired))
        let unwanted = report.repaired.filter(deleted.contains)
        if !unwanted.isEmpty { try await records.discard(unwanted) }
        report.repaired.removeAll(where: deleted.contains)
        for one in lost where !deleted.contains(one.blob.name) {
            if one.isThere { report.damaged.append(one.blob.name) } else { report.missing.append(one.blob.name) }
        }
        report.orphaned = try await records.unreferenced(among: stored)
        if !isReadOnly { try await records.markDamaged(report.missing + report.damaged) }
        report.affected = try await records.renditions(in: report.missing + report.damaged)
        for index in report.affected.indices {
            let rendition = report.affected[index]
            let source = try await records.attachment(rendition.attachment, of: rendition.tenant)?.source
            report.affected[index].path = source?.path ?? source?.name
        }
        for rendition in report.affected where isRemoving && !report.deleted.contains(rendition.attachment) {
            guard try await records.delete(rendition.attachment, of: rendition.tenant) else { continue }
            report.deleted.append(rendition.attachment)
        }
        try await verifySources(repairing: isRepairing, from: backup, &report)
        return report
    }

    private func verifySources(
        repairing isRepairing: Bool, from backup: BackupDirectory?, _ report: inout VerifyReport
    ) async throws(AttachmentError) {
        var missing = Set(try await records.neededSources())
        try await Self.forEachPage(of: sources.list) { page throws(AttachmentError) in
            missing.subtract(page.map(\.name))
        }
        // Whose job ended meanwhile.
        missing.subtract(try await records.unneeded(among: Array(missing)))
        for name in missing.sorted(by: { $0.rawValue < $1.rawValue }) {
            if isRepairing, try await repair(name, from: backup) {
                report.repairedSources.append(name)
            } else {
                report.missingSources.append(name)
            }
        }
    }
}

extension Store {
    /// - Returns: Whether the blob's name stands for its bytes again.
    private func repair(
        _ blob: CommittedBlob, from backup: BackupDirectory?
    ) async throws(AttachmentError) -> Bool {
        for name in try await blobs.versions(of: blob.name) + records.equalBlobs(to: blob.name) {
            guard try await blobs.holds(blob, as: name), try await blobs.restore(blob.name, from: name) else {
                continue
            }
            return true
        }
        guard let backup, let files = blobs as? FileBlobStore, try await backup.blobs.holds(blob, as: blob.name) else {
            return false
        }
        return try await files.restore(blob.name, from: blob.name, of: backup.blobs)
    }

    private func repair(_ source: SourceName, from backup: BackupDirectory?) async throws(AttachmentError) -> Bool {
        if try await sources.restore(source) { return true }
        guard let backup, let files = sources as? FileSourceStore else { return false }
        do throws(AttachmentError) {
            try await files.adopt(source, from: backup.sources)
        } catch {
            if case .notInStore = error { return false }
            throw error
        }
        try await BlockingWork.files { () throws(SystemError) in try files.syncNames() }
        return true
    }
}

extension BlobStore {
    /// Whether the bytes under a name are a blob's.
    fileprivate func holds(_ blob: CommittedBlob, as name: BlobName) async throws(AttachmentError) -> Bool {
        guard let found = try await digest(of: name) else { return false }
        return found.sha256 == blob.sha256 && found.bytes == blob.bytes
    }

    /// Hash and number of a blob's bytes; nil where they are gone.
    func digest(of name: BlobName) async throws(AttachmentError) -> (sha256: String, bytes: Int64)? {
        var hash = SHA256()
        var bytes: Int64 = 0
        do throws(AttachmentError) {
            while true {
                let piece = try await read(bytes..<bytes + 4 << 20, of: name)
                hash.update(data: piece)
                bytes += Int64(piece.count)
                if piece.count < 4 << 20 { break }
            }
        } catch {
            if case .notInStore = error { return nil }
            throw error
        }
        return (hash.finalize().hexadecimal, bytes)
    }
}
