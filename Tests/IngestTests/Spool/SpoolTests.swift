import Attachments
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ingest

@Suite struct SpoolTests: ~Copyable {
    private let directory: TemporaryDirectory
    private let path: String
    private let spool: Spool

    init() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/spool"
        spool = try Spool(at: path)
        self.path = path
        self.directory = directory
    }

    private func write(_ text: String, into file: inout SpoolFile) throws {
        try unsafe Array(text.utf8).withUnsafeBytes { bytes in try unsafe file.write(bytes) }
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    @Test func `a file that is hashed as it is written has the hash of its bytes`() throws {
        var file = try spool.create(hashing: true)
        for piece in ["ab", "", "c"] { try write(piece, into: &file) }
        // FIPS 180-2, appendix B.1.
        #expect(file.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let name = try file.commit()
        #expect(try spool.list().map(\.name) == [name])
        #expect(try spool.create().sha256 == nil)
    }

    @Test func `a committed file is read back under its name, by its owner alone`() throws {
        var file = try spool.create()
        try write("hello", into: &file)
        try write(", world", into: &file)
        #expect(file.bytes == 12)
        let name = try file.commit()
        let descriptor = try Spool(at: path).open(name)
        let data = try FileHandle(fileDescriptor: descriptor.number, closeOnDealloc: false).readToEnd()
        #expect(data == Data("hello, world".utf8))
        #expect(try mode(path) == 0o700)
        #expect(try mode("\(path)/\(name)") == 0o600)
        #expect(fcntl(descriptor.number, F_GETFL) & O_ACCMODE == O_RDONLY)
    }

    @Test func `a file that is not committed disappears with its owner`() throws {
        do {
            var file = try spool.create()
            try write("hello", into: &file)
            let entries = try spool.list()
            #expect(entries.map(\.isCommitted) == [false])
            #expect(entries.map(\.bytes) == [5])
            let name = file.name
            #expect(throws: AttachmentError.self) { try spool.open(name).number }
        }
        #expect(try spool.list().isEmpty)
    }

    @Test func `a sweep sees every file with its age`() throws {
        let old = try spool.create().commit()
        let new = try spool.create().commit()
        var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        try #require(unsafe utimensat(AT_FDCWD, "\(path)/\(old)", &times, 0) == 0)
        let ages = Dictionary(uniqueKeysWithValues: try spool.list().map { ($0.name, $0.age) })
        #expect(ages[old].map { $0 > .seconds(3600) } == true)
        #expect(ages[new].map { $0 < .seconds(60) } == true)
        try spool.remove(old)
        try spool.remove(old)
        #expect(try spool.list().map(\.name) == [new])
    }

    @Test(arguments: ["../secret", "/etc/passwd", "", ".", "..", "a\0b", "a/b"])
    func `a name that leads elsewhere is refused`(name: String) throws {
        try Data("secret".utf8).write(to: URL(filePath: path + "/../secret"))
        #expect(throws: AttachmentError.self) { try spool.open(name).number }
        #expect(throws: AttachmentError.self) { try spool.remove(name) }
        #expect(FileManager.default.fileExists(atPath: path + "/../secret"))
    }

    @Test func `a link in the spool is not followed`() throws {
        try Data("secret".utf8).write(to: URL(filePath: directory.path + "/secret"))
        try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "../secret")
        #expect(throws: AttachmentError.self) { try spool.open("link").number }
    }

    @Test func `what is not there is not in the store`() throws {
        let error = #expect(throws: AttachmentError.self) { try spool.open("missing").number }
        #expect(error?.code == .notInStore)
    }

    @Test func `a spool that can't be made is an error with the reason`() throws {
        let error = #expect(throws: AttachmentError.self) { try Spool(at: directory.path + "/missing/spool") }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("No such file or directory") == true)
    }

    @Test func `a full disk is store_full and leaves nothing`() throws {
        let mounted = directory.path + "/full"
        try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: true)
        try #require(unsafe mount("none", mounted, "tmpfs", 0, "size=64k") == 0, "mounting needs root")
        defer { unsafe umount(mounted) }
        let spool = try Spool(at: mounted + "/spool")
        do {
            var file = try spool.create()
            let error = #expect(throws: AttachmentError.self) {
                for _ in 0..<100 { try write(String(repeating: "a", count: 4096), into: &file) }
            }
            #expect(error == .storeFull)
        }
        #expect(try spool.list().isEmpty)
    }
}
