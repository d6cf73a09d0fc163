import SatchelCore
import Crypto
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Bytes
@testable import Stores

@Suite struct BlobStoreTests {
    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `what was committed reads back whole, and any part of it`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        var generator = SeededGenerator(seed: 1)
        let data = Data((0..<3_000_017).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let blob = try await fixture.store.commit(data)
        #expect(blob.sha256 == SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined())
        #expect(blob.bytes == 3_000_017)
        let blobs = fixture.store.blobs
        #expect(Data(try await blobs.read(0..<blob.bytes, of: blob.name)) == data)
        for range in [0..<0, 0..<1, 1_000_000..<2_000_000, 3_000_016..<3_000_017] as [Range<Int64>] {
            let part = try await blobs.read(range, of: blob.name)
            #expect(Data(part) == data[Int(range.lowerBound)..<Int(range.upperBound)])
        }
        #expect(Data(try await blobs.read(3_000_000..<4_000_000, of: blob.name)) == data[3_000_000...])
        #expect(try await blobs.read(3_000_017..<4_000_000, of: blob.name) == [])
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `the content of a blob is a file that holds it, also when the blob is removed, or read piece by piece`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let blob = try await fixture.store.commit("text")
        switch try await fixture.store.blobs.content(of: blob.name, behind: nil) {
        case .file(let descriptor):
            #expect(backend != .bucket)
            try await fixture.store.blobs.remove([blob.name])
            let file = FileHandle(fileDescriptor: descriptor.release(), closeOnDealloc: true)
            #expect(try file.readToEnd() == Data("text".utf8))
        case .stream:
            #expect(backend == .bucket)
            #expect(try await fixture.store.text(of: blob.name) == "text")
        case .redirect: Issue.record("there is no proxy")
        }
    }

    @Test func `a proxy in front is told a location beneath its prefix`() async throws {
        let fixture = try Fixture()
        let blob = try await fixture.store.commit("text")
        guard case .redirect(let location) = try await fixture.store.blobs.content(of: blob.name, behind: "/b/") else {
            Issue.record("no location")
            return
        }
        #expect(location == "/b/\(blob.sha256.prefix(2))/\(blob.name.rawValue)")
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `the same bytes get another name each time`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        let first = try await fixture.store.commit("same")
        let second = try await fixture.store.commit("same")
        #expect(first.sha256 == second.sha256)
        #expect(first.name != second.name)
        #expect(try await fixture.store.blobNames() == [first.name, second.name])
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `a copy outlives what it was made of, and there is none of what is gone`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        let blobs = fixture.store.blobs
        let first = try await fixture.store.commit("text")
        let second = try #require(try await blobs.copy(first, under: .generate()))
        #expect(second.name != first.name && second.sha256 == first.sha256 && second.bytes == first.bytes)
        try await blobs.remove([first.name])
        #expect(try await fixture.store.text(of: second.name) == "text")
        #expect(try await blobs.copy(first, under: .generate()) == nil)
        #expect(try await fixture.store.blobNames() == [second.name])
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `a list goes through all blobs, part by part, each once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var expected: [BlobName: Int64] = [:]
        for number in 0..<300 {
            let blob = try await fixture.store.commit(String(repeating: "x", count: number))
            expected[blob.name] = blob.bytes
        }
        var listed: [StoredObject<BlobName>] = []
        var cursor: String?
        var parts = 0
        repeat {
            let page = try await fixture.store.blobs.list(after: cursor, limit: 20)
            #expect(page.next == nil || page.elements.count >= 20)
            listed += page.elements
            cursor = page.next
            parts += 1
        } while cursor != nil
        #expect(parts > 5)
        #expect(listed.count == 300)
        #expect(Dictionary(listed.map { ($0.name, $0.bytes) }) { $1 } == expected)
        #expect(listed.allSatisfy { $0.age >= .zero && $0.age < .seconds(600) })
    }

    @Test func `the blob's file can be written by nobody`() async throws {
        let fixture = try Fixture()
        let blob = try await fixture.store.commit("")
        let path = try #require(fixture.store.files.path(of: blob.name)).string
        let mode = try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        #expect(mode == 0o400)
        let directory = (path as NSString).deletingLastPathComponent
        #expect(
            try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
    }

    @Test(
        .hasCases(for: .ceph),
        arguments: [
            "", "../../etc/passwd", String(repeating: "a", count: 64) + ".." + String(repeating: "/", count: 35),
        ], Backend.keepingBytes)
    func `a name that is none leads nowhere`(name: String, backend: Backend) async throws {
        let blobs = try Fixture(backend).store.blobs
        let name = BlobName(rawValue: name)
        let error = await #expect(throws: AttachmentError.self) { _ = try await blobs.read(0..<1, of: name) }
        #expect(error?.code == .notInStore)
        let other = await #expect(throws: AttachmentError.self) { _ = try await blobs.content(of: name, behind: nil) }
        #expect(other?.code == .notInStore)
        #expect(try await blobs.copy(CommittedBlob(name: name, sha256: "", bytes: 1), under: .generate()) == nil)
        try await blobs.remove([name])
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `what was removed is gone, and removing it again is no error`(backend: Backend) async throws {
        let fixture = try Fixture(backend, onDisk: true)
        let blobs = fixture.store.blobs
        let blob = try await fixture.store.commit("text")
        try await blobs.remove([blob.name])
        try await blobs.remove([blob.name])
        let error = await #expect(throws: AttachmentError.self) { _ = try await blobs.read(0..<1, of: blob.name) }
        #expect(error?.code == .notInStore)
    }
}
