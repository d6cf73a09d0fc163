import Attachments
import Crypto
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Stores

@Suite struct BlobStoreTests {
    @Test(arguments: Backend.allCases)
    func `what was sealed reads back whole, under a name that holds its hash`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        var generator = SeededGenerator(seed: 1)
        let data = Data((0..<3_000_017).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let blob = try await fixture.store.commit(data)
        let hash = SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined()
        #expect(blob.sha256 == hash)
        #expect(blob.name.rawValue.hasPrefix(hash + "."))
        #expect(blob.bytes == 3_000_017)
        let file = FileHandle(fileDescriptor: try fixture.store.blobs.open(blob.name).release(), closeOnDealloc: true)
        #expect(try file.readToEnd() == data)
    }

    @Test(arguments: Backend.allCases)
    func `the same bytes get another name each time`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        let first = try await fixture.store.commit("same")
        let second = try await fixture.store.commit("same")
        #expect(first.sha256 == second.sha256)
        #expect(first.name != second.name)
        #expect(Set(try fixture.store.blobs.list().map(\.name)) == [first.name, second.name])
    }

    @Test(arguments: Backend.allCases)
    func `a file that somebody can still write is refused`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        var file = try fixture.store.blobs.stage()
        let writer = file.takeWriter()
        #expect(unsafe write(writer.number, "12345", 5) == 5)
        #expect(await fixture.store.refusal(of: file, expecting: 5) == .codecCrashed)
        #expect(try fixture.store.blobs.list().isEmpty)
        _ = consume writer
    }

    @Test(arguments: Backend.allCases)
    func `a file that is mapped for writing is refused, though its descriptor is closed`(backend: Backend) async throws
    {
        let fixture = try Fixture(backend, onDisk: true)
        var file = try fixture.store.blobs.stage()
        let map: UnsafeMutableRawPointer?
        do {
            let writer = file.takeWriter()
            #expect(unsafe write(writer.number, "12345", 5) == 5)
            unsafe map = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer.number, 0)
        }
        #expect(await fixture.store.refusal(of: file, expecting: 5) == .codecCrashed)
        unsafe munmap(map, 4096)
    }

    @Test(arguments: Backend.allCases, [0, 4, 6] as [Int64])
    func `a file of another size than reported is refused`(backend: Backend, expected: Int64) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        var file = try fixture.store.blobs.stage()
        do {
            let writer = file.takeWriter()
            #expect(unsafe write(writer.number, "12345", 5) == 5)
        }
        #expect(await fixture.store.refusal(of: file, expecting: expected) == .codecCrashed)
        #expect(try fixture.store.blobs.list().isEmpty)
    }

    @Test func `files staged under a name leave nothing behind, sealed or not`() async throws {
        let fixture = try Fixture()
        let blobs = FileBlobStore(directory: fixture.store.directory, staging: Staging(needsName: true))
        let staging = fixture.store.directory + "/staging"
        do {
            let unused = try blobs.stage()
            #expect(try FileManager.default.contentsOfDirectory(atPath: staging).count == 1)
            _ = consume unused
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: staging).isEmpty)
        var file = try blobs.stage()
        do {
            let writer = file.takeWriter()
            #expect(unsafe write(writer.number, "12345", 5) == 5)
        }
        let blob = try await blobs.commit(file, expecting: 5, writersAreDead: false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: staging).isEmpty)
        #expect(try fixture.store.text(of: blob.name) == "12345")
    }

    @Test func `the service's descriptor cannot write, and the blob's file can be written by nobody`() async throws {
        let fixture = try Fixture()
        var file = try fixture.store.blobs.stage()
        #expect(unsafe write(file.reader.number, "x", 1) == -1)
        do { _ = file.takeWriter() }
        let blob = try await fixture.store.blobs.commit(file, expecting: 0, writersAreDead: false)
        let path = try #require(fixture.store.files.path(of: blob.name))
        let mode = try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        #expect(mode == 0o400)
        let directory = (path as NSString).deletingLastPathComponent
        #expect(
            try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
    }

    @Test(
        arguments: [
            "", "../../etc/passwd", String(repeating: "a", count: 64) + ".." + String(repeating: "/", count: 35),
        ], Backend.allCases)
    func `a name that is none leads nowhere`(name: String, backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let error = #expect(throws: AttachmentError.self) {
            _ = try fixture.store.blobs.open(BlobName(rawValue: name))
        }
        #expect(error?.code == .notInStore)
        try fixture.store.blobs.remove([BlobName(rawValue: name)])
    }

    @Test(arguments: Backend.allCases)
    func `what was removed is gone, and removing it again is no error`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        let blob = try await fixture.store.commit("text")
        try fixture.store.blobs.remove([blob.name])
        try fixture.store.blobs.remove([blob.name])
        let error = #expect(throws: AttachmentError.self) { _ = try fixture.store.blobs.open(blob.name) }
        #expect(error?.code == .notInStore)
    }
}

extension Store {
    /// The code with which sealing is refused; nil where it isn't.
    fileprivate func refusal(of file: consuming StagedFile, expecting bytes: Int64) async -> ErrorCode? {
        do throws(AttachmentError) {
            _ = try await blobs.commit(file, expecting: bytes, writersAreDead: false)
            return nil
        } catch {
            return error.code
        }
    }
}
