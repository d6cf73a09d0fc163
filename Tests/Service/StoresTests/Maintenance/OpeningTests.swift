import SatchelCore
import Foundation
import Glibc
import Platform
import SystemPackage
import TestSupport
import Testing

@testable import Stores

@Suite struct OpeningTests {
    @Test func `opening twice changes nothing, also at the same time`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let path = directory.path
        let stores = try await withThrowingTaskGroup(of: Store.self) { group in
            for _ in 0..<6 { group.addTask { try Store.open(at: path + "/a/b/store", keys: path + "/keys") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        _ = try await stores[0].records.submit([.sample()], SubmissionOptions())
        for store in stores {
            let jobs = try await store.records.jobs(of: .local, where: RecordFilter(), after: nil, limit: 9)
            #expect(jobs.elements.count == 1)
        }
    }

    @Test(arguments: Backend.allCases)
    func `nobody but the owner can look into a store`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.store.deliver([.main: "text"])
        let root = fixture.store.directory
        var looked = 0
        for path in [""] + (try FileManager.default.subpathsOfDirectory(atPath: root)) {
            let attributes = try FileManager.default.attributesOfItem(atPath: root + "/" + path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0, "\(path) has mode \(String(mode, radix: 8))")
            looked += 1
        }
        #expect(looked > (backend.hasShelves ? 260 : 2))
    }

    @Test func `a directory with something else in it is not taken for a store`() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let photos = directory.path + "/photos"
        try FileManager.default.createDirectory(atPath: photos, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: photos + "/holiday.jpg"))
        #expect(throws: StoreError.notAStore(path: photos)) { try Store.open(at: photos, keys: directory.path + "/k") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: photos) == ["holiday.jpg"])
        #expect(throws: StoreError.notAStore(path: photos + "/holiday.jpg")) {
            try Store.open(at: photos + "/holiday.jpg", keys: directory.path + "/k")
        }
    }

    @Test(arguments: [
        "not a database at all, but long enough to have a header of one hundred bytes, as SQLite wants it to", "",
    ])
    func `a file in the database's place is not overwritten`(text: String) throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let path = directory.path + "/store"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path + "/records.sqlite"))
        do {
            _ = try Store.open(at: path, keys: directory.path + "/k")
            // An empty file is what a first opening that was cut off leaves.
            #expect(text.isEmpty)
        } catch {
            #expect(error == .notAStore(path: path + "/records.sqlite"))
            #expect(try Data(contentsOf: URL(filePath: path + "/records.sqlite")) == Data(text.utf8))
        }
    }

    @Test func `somebody else's database is left alone`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let path = directory.path + "/store"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try sqlite(path + "/records.sqlite", "CREATE TABLE music (title TEXT)")
        #expect(throws: StoreError.notAStore(path: path + "/records.sqlite")) {
            try Store.open(at: path, keys: directory.path + "/k")
        }
    }

    @Test func `a store of a newer version is refused in one sentence and left as it is`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let path = directory.path + "/store"
        do { _ = try Store.open(at: path, keys: directory.path + "/k") }
        try sqlite(path + "/records.sqlite", "PRAGMA user_version = 99")
        let error = #expect(throws: StoreError.newerSchema(path: path + "/records.sqlite")) {
            try Store.open(at: path, keys: directory.path + "/k")
        }
        #expect(error?.description.contains("newer version") == true)
    }

    @Test func `where there is no store and none is to be made, nothing is made`() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let path = directory.path + "/store"
        #expect(throws: StoreError.missing(path: path)) {
            try Store.open(at: path, keys: directory.path + "/k", create: false)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a place where nothing can be written is named with the reason`() throws {
        let error = #expect(throws: StoreError.self) { try Store.open(at: "/proc/satchel", keys: "/proc/keys") }
        #expect(error?.description.contains("/proc/satchel") == true)
        #expect(error?.description.contains("--store") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func `a full disk loses nothing, says so, and takes more once there is room`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let disk = directory.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        #expect(unsafe mount("satchel-test", disk, "tmpfs", 0, "size=3m,nr_inodes=400") == 0)
        defer { unsafe umount2(disk, Int32(MNT_DETACH)) }
        let store = try Store.open(at: disk + "/store", keys: directory.path + "/keys")
        let kept = try await store.deliver([.main: "kept"])
        try fill(disk + "/filler")
        // A codec process learns of it when it writes; the service when it names or accepts.
        await #expect(throws: CocoaError.self) { _ = try await store.commit(Data(repeating: 7, count: 100_000)) }
        var accepted = 0
        var refusal: AttachmentError?
        while refusal == nil, accepted < 10_000 {
            do throws(AttachmentError) {
                _ = try await store.records.submit([.sample()], SubmissionOptions())
                accepted += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal == .storeFull)
        try FileManager.default.removeItem(atPath: disk + "/filler")
        let jobs = try await store.records.jobs(
            of: .local, where: RecordFilter(state: .pending), after: nil, limit: 1000)
        #expect(jobs.elements.count == accepted)
        #expect(try await store.records.attachment(kept.id, of: .local) == kept)
        #expect(try await store.verify().isSound)
        _ = try await store.deliver([.main: "more"])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func `a reserve is made if there is space, counts as used while a command has it, and is made again`() async throws
    {
        let directory = try TemporaryDirectory(inMemory: true)
        let disk = directory.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        #expect(unsafe mount("satchel-test", disk, "tmpfs", 0, "size=20m") == 0)
        defer { unsafe umount2(disk, Int32(MNT_DETACH)) }
        let path = disk + "/store"
        let store = try Store.open(at: path, keys: directory.path + "/keys")
        func reserve() throws -> Int? {
            try? FileManager.default.attributesOfItem(atPath: path + "/reserve")[.size] as? Int
        }
        store.keepReserve()
        #expect(try reserve() == nil, "it would take nearly all free space")
        #expect(unsafe mount("satchel-test", disk, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
        store.keepReserve()
        #expect(try reserve() == 16 << 20)
        do {
            _ = try Store.open(at: path, keys: directory.path + "/keys", freesSpace: true)
            #expect(try reserve() == 16 << 20, "there is enough space without it")
        }
        try fill(disk + "/filler")
        #expect(try await store.freeBytes() < 1 << 16)
        do {
            _ = try Store.open(at: path, keys: directory.path + "/keys")
            #expect(try Files.freeBytes(at: FilePath(path)) < 1 << 16)
            let held = try Store.open(at: path, keys: directory.path + "/keys", freesSpace: true)
            #expect(try Files.freeBytes(at: FilePath(path)) >= 15 << 20)
            #expect(try await store.freeBytes() < 1 << 16, "a service would take new work")
            store.keepReserve()
            #expect(try reserve() == 0, "another process took it back")
            try Data(count: 100_000).write(to: URL(filePath: disk + "/log"))
            withExtendedLifetime(held) {}
        }
        #expect(try reserve() == 15 << 20)
        try FileManager.default.removeItem(atPath: disk + "/filler")
        store.keepReserve()
        #expect(try reserve() == 16 << 20)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func `a disk without inodes is full too`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let disk = directory.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        #expect(unsafe mount("satchel-test", disk, "tmpfs", 0, "size=3m,nr_inodes=100") == 0)
        defer { unsafe umount2(disk, Int32(MNT_DETACH)) }
        #expect(throws: StoreError.full(path: disk + "/store")) {
            try Store.open(at: disk + "/store", keys: directory.path + "/keys")
        }
    }
}

/// Fills the file system that `path` is on.
private func fill(_ path: String) throws {
    try Data().write(to: URL(filePath: path))
    let file = try #require(FileHandle(forWritingAtPath: path))
    for size in [65_536, 4096, 1] {
        while (try? file.write(contentsOf: Data(repeating: 1, count: size))) != nil {}
    }
    try file.close()
}
