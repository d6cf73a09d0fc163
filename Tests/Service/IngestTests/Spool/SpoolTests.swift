import SatchelCore
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

    private func left() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path)
    }

    @Test func `a file that is hashed as it is written has the hash of its bytes`() throws {
        var file = try spool.create(hashing: true)
        for piece in ["ab", "", "c"] { try write(piece, into: &file) }
        let hashed = file.finish()
        // FIPS 180-2, appendix B.1.
        #expect(hashed.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hashed.bytes == 3)
    }

    @Test func `a file is read back by its descriptor, which can't write, and is its owner's alone`() throws {
        var file = try spool.create()
        try write("hello", into: &file)
        try write(", world", into: &file)
        #expect(file.bytes == 12)
        let reader = file.file.reader.number
        #expect(try FileHandle(fileDescriptor: reader, closeOnDealloc: false).readToEnd() == Data("hello, world".utf8))
        #expect(fcntl(reader, F_GETFL) & O_ACCMODE == O_RDONLY)
        #expect(try mode(path) == 0o700)
        #expect(try mode(#require(file.file.path)) == 0o600)
    }

    @Test func `a file disappears with its last owner`() throws {
        do {
            let kept: ScratchFile
            do {
                var file = try spool.create()
                try write("hello", into: &file)
                kept = file.file
            }
            #expect(try left().count == 1)
            _ = consume kept
        }
        #expect(try left().isEmpty)
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
            #expect(error?.code == .storeFull)
            guard case .scratchFull(let needed)? = error else { throw error ?? .storeFull }
            // It had taken nearly all of the disk by then.
            #expect(needed > 48 << 10 && needed <= 68 << 10)
        }
        do {
            var file = try spool.create(expecting: 1 << 20)
            let error = #expect(throws: AttachmentError.self) {
                for _ in 0..<100 { try write(String(repeating: "a", count: 4096), into: &file) }
            }
            #expect(error == .scratchFull(needed: 1 << 20), "what was announced counts")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: mounted + "/spool").isEmpty)
    }
}
