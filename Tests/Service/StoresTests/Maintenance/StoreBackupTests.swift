import SatchelCore
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Bytes
@testable import Stores

/// Of a store in a directory alone, whose records and bytes are files of ours. A database and a bucket are backed up by their own means,
/// which ServeTests does as the README has it.
@Suite(.timeLimit(.minutes(5))) struct StoreBackupTests {
    /// A store, and where its backups and what is made of them go.
    private struct Place: ~Copyable {
        let fixture: Fixture
        let elsewhere: TemporaryDirectory

        /// - Parameter isFar: Whether backups go to another file system.
        init(isFar: Bool = false) throws {
            let elsewhere = try TemporaryDirectory(inMemory: true)
            fixture = try Fixture(onDisk: isFar)
            self.elsewhere = elsewhere
        }

        var store: Store { fixture.store }
        var backup: String { elsewhere.path + "/backup" }
        var keys: String { fixture.directory.path + "/keys" }

        @discardableResult
        func backUp() async throws -> BackupReport { try await store.backup(into: BackupDirectory(at: backup)) }

        @discardableResult
        func restore(to name: String = "restored", keys: String? = nil) async throws -> RestoreReport {
            try await BackupDirectory(existingAt: backup).restore(
                to: elsewhere.path + "/" + name, keys: keys ?? self.keys)
        }

        func opened(_ name: String = "restored") throws -> Store {
            try Store.open(at: elsewhere.path + "/" + name, keys: keys, exclusively: true) { [clock = fixture.clock] in
                clock.now
            }
        }

        func blob(_ attachment: AttachmentRecord) async throws -> BlobName {
            try #require(try await store.records.blob(of: .main, of: attachment.id, tenant: .local))
        }
    }

    @Test(arguments: [false, true])
    func `what was backed up is a store again: records, bytes, access, and jobs that wait with their sources`(
        isFar: Bool
    ) async throws {
        let place = try Place(isFar: isFar)
        let kept = try await place.store.deliver([.main: "main", .thumbnail: "small"])
        let gone = try await place.store.deliver([.main: "gone"])
        #expect(try await place.store.records.delete(gone.id, of: .local))
        let (_, token) = try #require(
            try await place.store.records.startLease(
                on: kept.id, in: .owner(.local), renditions: nil, for: .seconds(600)))
        let source = try await place.store.accept("source")
        var waiting = JobSubmission.sample()
        waiting.attachments[0].location = .spool(name: source)
        _ = try await place.store.records.submit([waiting], SubmissionOptions())
        let running = JobSubmission.sample()
        _ = try await place.store.records.submit([running], SubmissionOptions())
        _ = try await place.store.records.claim(
            ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "w"), for: .seconds(60))

        let report = try await place.backUp()
        #expect(report == BackupReport(blobs: 2, bytes: 9, newBlobs: 2, sources: 1))
        let restored = try await place.restore()
        #expect(restored == RestoreReport(blobs: 2, bytes: 9, sources: 1, hasKeys: true))
        let store = try place.opened()
        #expect(try await store.verify().isSound)
        #expect(try await store.records.attachment(kept.id, of: .local) == kept)
        #expect(try await store.records.attachment(gone.id, of: .local) == nil)
        let content = try #require(try await store.records.open(token, role: .main))
        #expect(try await store.text(of: content.blob) == "main")
        let claims =
            try await store.records.claim(
                ClaimCapacity(9), from: .lane(.quick), by: WorkerID(rawValue: "v"), for: .seconds(60))
            + store.records.claim(ClaimCapacity(9), from: .lane(.fetch), by: WorkerID(rawValue: "v"), for: .seconds(60))
        #expect(Set(claims.map(\.job)) == [waiting.id, running.id], "what ran at the backup waits again")
        #expect(claims.first { $0.job == waiting.id }?.submission.attachments[0].location == .spool(name: source))
        let file = FileHandle(fileDescriptor: try await store.sources.open(source).release(), closeOnDealloc: true)
        #expect(try file.readToEnd() == Data("source".utf8))
        let files = try FileManager.default.subpathsOfDirectory(atPath: place.backup)
        #expect(!files.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") || $0.hasSuffix(".part") })
        for path in files {
            let mode = try FileManager.default.attributesOfItem(atPath: place.backup + "/" + path)[.posixPermissions]
            #expect(try #require(mode as? Int) & 0o077 == 0, "\(path)")
        }
    }

    @Test(arguments: [false, true])
    func `a second backup takes only what is new, and drops what nothing refers to any more`(isFar: Bool) async throws {
        let place = try Place(isFar: isFar)
        let first = try await place.store.deliver([.main: "first"])
        try await place.store.deliver([.main: "second"])
        #expect(try await place.backUp().newBlobs == 2)
        let name = try await place.blob(first)
        let path = "\(place.backup)/blobs/\(name.rawValue.prefix(2))/\(name.rawValue)"
        #expect(FileManager.default.fileExists(atPath: path))
        let links = try FileManager.default.attributesOfItem(atPath: path)[.referenceCount] as? Int
        #expect(links == 1, "what damages the store would damage the backup")
        #expect(try await place.store.records.delete(first.id, of: .local))
        try await place.store.deliver([.main: "third"])
        let report = try await place.backUp()
        #expect(report.blobs == 2 && report.newBlobs == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
        try await place.restore()
        #expect(try await place.opened().verify().isSound)
    }

    @Test func `a file of an earlier backup that is the store's own is copied anew, and any other is kept`()
        async throws
    {
        let place = try Place()
        var names: [BlobName] = []
        for text in ["linked", "kept"] { names.append(try await place.blob(place.store.deliver([.main: text]))) }
        let source = try await place.store.accept("source")
        var waiting = JobSubmission.sample()
        waiting.attachments[0].location = .spool(name: source)
        _ = try await place.store.records.submit([waiting], SubmissionOptions())
        try await place.backUp()
        func inode(_ path: String) throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int)
        }
        let store = place.fixture.directory.path + "/store"
        let paths = names.map { "/blobs/\($0.rawValue.prefix(2))/\($0.rawValue)" } + ["/spool/\(source.rawValue)"]
        let kept = try inode(place.backup + paths[1])
        for path in [paths[0], paths[2]] {
            try FileManager.default.removeItem(atPath: place.backup + path)
            try FileManager.default.linkItem(atPath: store + path, toPath: place.backup + path)
        }
        #expect(try await place.backUp().newBlobs == 1)
        for path in paths { #expect(try inode(place.backup + path) != inode(store + path)) }
        #expect(try inode(place.backup + paths[1]) == kept)
        try await place.restore()
        for path in paths {
            #expect(try inode(place.elsewhere.path + "/restored" + path) != inode(place.backup + path))
        }
    }

    @Test func `a backup never loses what the store has lost`() async throws {
        let place = try Place()
        let names = [
            try await place.blob(place.store.deliver([.main: "missing"])),
            try await place.blob(place.store.deliver([.main: "cut"])),
            try await place.blob(place.store.deliver([.main: "never"])),
        ]
        func path(_ name: BlobName) throws -> String { try #require(place.store.files.path(of: name)).string }
        try FileManager.default.removeItem(atPath: path(names[2]))
        #expect(try await place.backUp().missing == [names[2]])
        try FileManager.default.removeItem(atPath: path(names[0]))
        #expect(unsafe truncate(try path(names[1]), 1) == 0)
        #expect(try await place.backUp().missing == [names[2]])
        #expect(try await place.restore().blobs == 2)
        #expect(try await place.opened().text(of: names[0]) == "missing")
        #expect(try await place.opened().text(of: names[1]) == "cut")
    }

    @Test func `a backup is of one moment, whatever is delivered and deleted meanwhile`() async throws {
        let place = try Place()
        for number in 0..<40 { try await place.store.deliver([.main: "old \(number)"]) }
        let store = place.store
        for round in 0..<4 {
            let churning = Task {
                var number = 0
                while !Task.isCancelled {
                    try await store.deliver([.main: "\(round) \(number)"])
                    let page = try await store.records.attachments(
                        of: .local, where: RecordFilter(), after: nil, limit: 1000)
                    for record in page.elements.suffix(2) { _ = try await store.records.delete(record.id, of: .local) }
                    number += 1
                }
            }
            let report = try await place.backUp()
            churning.cancel()
            try await churning.value
            #expect(report.missing.isEmpty)
            try await place.restore(to: "\(round)")
            let restored = try await place.opened("\(round)").verify()
            #expect(restored.isSound && restored.orphaned.isEmpty && restored.blobs == report.blobs)
        }
        #expect(try await store.verify().isSound)
        _ = try await store.sweep(sparing: nil)
        let left = try await store.verify()
        #expect(left.isSound && left.orphaned.isEmpty, "a sweep takes what stayed for the backup's sake")
    }

    @Test func `while somebody copies the store nothing is removed, in no process; a sweep does it afterwards`()
        async throws
    {
        let place = try Place()
        let record = try await place.store.deliver([.main: "text"])
        let name = try await place.blob(record)
        do {
            let held = try #require(place.store.removals).hold()
            _ = try await place.fixture.reopened().records.delete(record.id, of: .local)
            #expect(try await place.store.text(of: name) == "text")
            _ = consume held
        }
        #expect(try await place.store.sweep(sparing: nil).orphans == 1)
        #expect(try await place.store.blobNames().isEmpty)
    }

    @Test func `a backup that was cut off is none, and leaves an earlier one as it was`() async throws {
        let place = try Place()
        let first = try await place.store.deliver([.main: "first"])
        // All but the end.
        func cutOff() async throws {
            let backup = try BackupDirectory(at: place.backup)
            let references = try await place.fixture.sqlite.file.snapshot(
                to: backup.newRecords.string, at: place.fixture.clock.now)
            for blob in references.blobs { _ = try await backup.blobs.adopt(blob, from: place.store.blobs) }
        }
        try await cutOff()
        await #expect(throws: StoreError.noBackup(path: place.backup)) { try await place.restore() }
        try await place.backUp()
        _ = try await place.store.records.delete(first.id, of: .local)
        try await place.store.deliver([.main: "second"])
        try await cutOff()
        try await place.restore()
        let store = try place.opened()
        #expect(try await store.records.attachment(first.id, of: .local) == first)
        #expect(try await store.verify().isSound)
        #expect(try await place.backUp().blobs == 1)
    }

    @Test func `what is damaged or missing in a backup is named and left out, and comes anew with its next delivery`()
        async throws
    {
        let place = try Place(isFar: true)
        let whole = try await place.store.deliver([.main: "whole"])
        let damaged = try await place.blob(place.store.deliver([.main: "damaged"]))
        let missing = try await place.blob(place.store.deliver([.main: "missing"]))
        try await place.backUp()
        func path(_ name: BlobName) -> String { "\(place.backup)/blobs/\(name.rawValue.prefix(2))/\(name.rawValue)" }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(damaged))
        try Data("damagex".utf8).write(to: URL(filePath: path(damaged)))
        try FileManager.default.removeItem(atPath: path(missing))
        let report = try await place.restore()
        #expect(report.damaged == [damaged] && report.missing == [missing] && report.blobs == 1)
        let store = try place.opened()
        let found = try await store.verify()
        #expect(Set(found.missing) == [damaged, missing] && found.damaged.isEmpty)
        #expect(try await store.records.attachment(whole.id, of: .local) == whole)
        for text in ["damaged", "missing"] {
            let again = try await store.deliver([.main: text])
            let blob = try #require(try await store.records.blob(of: .main, of: again.id, tenant: .local))
            #expect(try await store.text(of: blob) == text)
        }
    }

    @Test func `nothing is written over a store in which something is, nor into a directory of something else`()
        async throws
    {
        let place = try Place()
        try await place.store.deliver([.main: "text"])
        try await place.backUp()
        let target = place.fixture.directory.path + "/store"
        await #expect(throws: StoreError.inUse(path: target)) {
            try await BackupDirectory(existingAt: place.backup).restore(to: target, keys: place.keys)
        }
        let full = place.elsewhere.path + "/full"
        do {
            let store = try Store.open(at: full, keys: place.keys)
            try await store.deliver([.main: "mine"])
        }
        await #expect(throws: StoreError.notEmpty(path: full)) { try await place.restore(to: "full") }
        #expect(try await place.opened("full").verify().blobs == 1)
        #expect(throws: StoreError.notABackup(path: full)) { _ = try BackupDirectory(at: full) }
        let other = place.elsewhere.path + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: other + "/holiday.jpg"))
        await #expect(throws: StoreError.notAStore(path: other)) { try await place.restore(to: "other") }
        #expect(throws: StoreError.notABackup(path: other)) { _ = try BackupDirectory(at: other) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["holiday.jpg"])
        // An empty one gives way.
        do { _ = try Store.open(at: place.elsewhere.path + "/empty", keys: place.keys) }
        #expect(try await place.restore(to: "empty").blobs == 1)
        #expect(try await place.opened("empty").verify().blobs == 1)
    }

    @Test func `a restore that was cut off is no store, and is done again`() async throws {
        let place = try Place()
        try await place.store.deliver([.main: "text"])
        try await place.backUp()
        do {
            let target = place.elsewhere.path + "/restored"
            let lock = try Store.makeVacant(at: target)
            let backup = try BackupDirectory(existingAt: place.backup)
            let blobs = FileBlobStore(store: FilePath(target))
            for blob in try SQLiteEngine.references(at: backup.records.string).blobs {
                _ = try await blobs.adopt(blob, from: backup.blobs)
            }
            try Data("half".utf8).write(to: URL(filePath: target + "/records.new"))
            #expect(throws: StoreError.missing(path: target)) {
                try Store.open(at: target, keys: place.keys, create: false)
            }
            _ = lock.isExclusive
        }
        #expect(try await place.restore().blobs == 1)
        #expect(try await place.opened().verify().isSound)
    }

    @Test func `whoever restores without the keys is told, and none are made`() async throws {
        let place = try Place()
        place.fixture.clock.now = .wallClock()
        let record = try await place.store.deliver([.main: "text"])
        _ = try await place.store.records.startLease(
            on: record.id, in: .owner(.local), renditions: nil, for: .seconds(6_000_000))
        try await place.backUp()
        let none = place.elsewhere.path + "/none"
        let without = try await place.restore(to: "a", keys: none)
        #expect(!without.hasKeys && without.missingKeys.count == 1)
        #expect(!FileManager.default.fileExists(atPath: none))
        let others = place.elsewhere.path + "/others"
        _ = try KeyRing(path: others)
        let wrong = try await place.restore(to: "b", keys: others)
        #expect(wrong.hasKeys && wrong.missingKeys.count == 1)
        #expect(try await place.restore(to: "c").missingKeys.isEmpty)
        for path in try FileManager.default.subpathsOfDirectory(atPath: place.backup) {
            #expect(!path.contains("keys"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func `a full disk leaves the earlier backup, and no half one`() async throws {
        let place = try Place()
        let disk = place.backup + ".disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        #expect(unsafe mount("satchel-test", disk, "tmpfs", 0, "size=3m,nr_inodes=2000") == 0)
        defer { unsafe umount2(disk, Int32(MNT_DETACH)) }
        let first = try await place.store.deliver([.main: "first"])
        let path = disk + "/backup"
        _ = try await place.store.backup(into: BackupDirectory(at: path))
        try await place.store.deliver([.main: String(repeating: "x", count: 4_000_000)])
        let error = await #expect(throws: StoreError.self) {
            try await place.store.backup(into: BackupDirectory(at: path))
        }
        guard case .noRoom(path, let needed, let free)? = error else { throw error ?? StoreError.missing(path: path) }
        // Counted in blocks; what was there before is not copied again.
        #expect(needed == 4_001_792 && (0..<3 << 20).contains(free))
        #expect(error?.description.contains("\(needed) bytes, and \(free) are free") == true)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: path).allSatisfy { !$0.contains("records.new") })
        let target = place.elsewhere.path + "/restored"
        #expect(try await BackupDirectory(existingAt: path).restore(to: target, keys: place.keys).blobs == 1)
        #expect(try await place.opened().records.attachment(first.id, of: .local) == first)
        let other = disk + "/other"
        await #expect(throws: (any Error).self) { try await place.store.backup(into: BackupDirectory(at: other)) }
        #expect(throws: StoreError.noBackup(path: other)) { _ = try BackupDirectory(existingAt: other) }
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.of([.memory, .bucket, .postgres, .cluster, .postgresAndFiles]))
    func `a store that isn't in a directory has no backup`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let directory = try TemporaryDirectory(inMemory: true)
        let error = await #expect(throws: AttachmentError.self) {
            try await fixture.store.backup(into: BackupDirectory(at: directory.path + "/backup"))
        }
        #expect(error?.code == .storeFailed)
    }
}
