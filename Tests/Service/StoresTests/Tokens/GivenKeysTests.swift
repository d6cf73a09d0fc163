import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Stores

/// Keys that somebody else keeps, as a cluster's secrets are.
@Suite struct GivenKeysTests {
    /// A volume as Kubernetes makes one of a secret: `access.keys` → `..data/access.keys`, `..data` → the directory of this version.
    private struct Volume {
        let disk: MemoryDisk

        var path: String { disk.url.path(percentEncoded: false) + "/access.keys" }

        /// Puts a version in place at once, with this mode.
        func put(_ version: String, _ keys: Data, mode: Int = 0o440) throws {
            let files = FileManager.default
            try disk.remount("size=1m")
            let home = disk.url.path(percentEncoded: false)
            let directory = home + "/..\(version)"
            try files.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try keys.write(to: URL(filePath: directory + "/access.keys"))
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: directory + "/access.keys")
            try files.createSymbolicLink(atPath: home + "/..new", withDestinationPath: "..\(version)")
            let moved = unsafe rename(home + "/..new", home + "/..data")
            #expect(moved == 0)
            if (try? files.destinationOfSymbolicLink(atPath: path)) == nil {
                try files.createSymbolicLink(atPath: path, withDestinationPath: "..data/access.keys")
            }
            try disk.remount("size=1m", readOnly: true)
        }
    }

    private static func mounted(_ body: (Volume, borrowing TemporaryDirectory) throws -> Void) throws {
        let home = try TemporaryDirectory()
        try MemoryDisk.mounted(at: home.url.appending(path: "secret"), options: "size=1m") { disk in
            try body(Volume(disk: disk), home)
        }
    }

    /// New keys, the newest first.
    private static func keys(_ count: Int, in home: borrowing TemporaryDirectory) throws -> Data {
        let path = home.path + "/made-\(UUID().uuidString)"
        let ring = try KeyRing(path: path)
        for _ in 1..<count { try ring.rotate() }
        return try Data(contentsOf: URL(filePath: path))
    }

    /// Takes on a user's rights over files and leaves root's, for the calling thread alone. The C library's module lacks these.
    private static func become(_ user: uid_t, _ group: gid_t) {
        typealias Call = @convention(c) (UInt32) -> Int32
        for (name, id) in [("setfsgid", group), ("setfsuid", user)] {
            let call = unsafe unsafeBitCast(dlsym(nil, name), to: Call.self)
            _ = call(id)
        }
    }

    @Test func `keys on a read-only mount are read behind links and by a group, and can't be rotated`() throws {
        try Self.mounted { volume, home in
            try volume.put("1", try Self.keys(2, in: home))
            let ring = try KeyRing(path: volume.path)
            #expect(ring.kids.count == 2)
            let error = #expect(throws: StoreError.givenKeys(path: volume.path)) { try ring.rotate() }
            #expect(error?.description.contains("can't rotate them") == true)
            // A sweep drops what is old elsewhere; here that is nobody's fault.
            try ring.prune(keeping: [], now: .wallClock() + .seconds(100_000))
            #expect(ring.kids.count == 2)
        }
    }

    @Test func `a version that is put in their place is noticed`() throws {
        try Self.mounted { volume, home in
            let first = try Self.keys(1, in: home)
            try volume.put("1", first)
            let ring = try KeyRing(path: volume.path)
            let kid = try ring.current()
            let second = try Self.keys(1, in: home)
            try volume.put("2", Data(second.dropLast()) + Data(",".utf8) + first.dropFirst())
            #expect(try ring.current() != kid)
            #expect(ring.kids.count == 2 && ring.kids.last == kid)
        }
    }

    @Test(arguments: [0o444, 0o460, 0o404])
    func `keys that others may read, or their group may write, are refused wherever they are`(mode: Int) throws {
        try Self.mounted { volume, home in
            try volume.put("1", try Self.keys(1, in: home), mode: mode)
            let error = #expect(throws: StoreError.exposedKeys(path: volume.path)) { try KeyRing(path: volume.path) }
            #expect(error?.description.contains("0440") == true)
        }
    }

    @Test func `where none are given none are made`() throws {
        try Self.mounted { volume, home in
            try volume.disk.remount("size=1m", readOnly: true)
            let error = #expect(throws: StoreError.self) { try KeyRing(path: volume.path) }
            #expect(error == .missingKeys(path: volume.path, reason: "Read-only file system"))
            let link = home.path + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: volume.path)
            #expect(throws: StoreError.missingKeys(path: link, reason: "it is a dangling symbolic link")) {
                try KeyRing(path: link)
            }
        }
    }

    @Test func `keys that this process could change are found behind no link`() throws {
        let home = try TemporaryDirectory()
        _ = try KeyRing(path: home.path + "/keys")
        let link = home.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "keys")
        #expect(throws: StoreError.self) { try KeyRing(path: link) }
    }

    @Test(.enabled(if: Privileges.canChangeUser))
    func `keys of another user are given where they can't be written`() async throws {
        let (owner, group, reader): (Int, gid_t, uid_t) = (20_001, 20_002, 20_003)
        let home = try TemporaryDirectory(inMemory: true)
        let (path, link) = (home.path + "/keys", home.path + "/link")
        _ = try KeyRing(path: path)
        let files = FileManager.default
        try files.setAttributes(
            [.ownerAccountID: owner, .groupOwnerAccountID: Int(group), .posixPermissions: 0o440], ofItemAtPath: path)
        try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: home.path)
        try files.createSymbolicLink(atPath: link, withDestinationPath: "keys")
        // This process may write to anything.
        #expect(throws: StoreError.exposedKeys(path: path)) { try KeyRing(path: path) }
        let (count, refusal) = try await onThread { () throws -> (Int, StoreError?) in
            Self.become(reader, group)
            let ring = try KeyRing(path: link)
            do throws(StoreError) { try ring.rotate() } catch { return (ring.kids.count, error) }
            return (ring.kids.count, nil)
        }
        #expect(count == 1 && refusal == .givenKeys(path: link))
    }
}
