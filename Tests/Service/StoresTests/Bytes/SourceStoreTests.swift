import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Stores

@Suite struct SourceStoreTests {
    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `what was handed in reads back whole, by whoever opens it, and nobody can write it`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let name = try await fixture.store.accept("hello, world")
        for _ in 0..<2 {
            let source = try await fixture.reopened().sources.open(name)
            #expect(fcntl(source.number, F_GETFL) & O_ACCMODE == O_RDONLY)
            let file = FileHandle(fileDescriptor: source.release(), closeOnDealloc: true)
            #expect(try file.readToEnd() == Data("hello, world".utf8))
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.store.scratch)
                == (backend == .files ? [name.rawValue] : []), "taking it over took it out of the scratch")
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `what was removed is gone, and removing it again is no error`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let sources = fixture.store.sources
        let name = try await fixture.store.accept("x")
        try await sources.remove([name])
        try await sources.remove([name])
        let error = await #expect(throws: AttachmentError.self) { _ = try await sources.open(name).release() }
        #expect(error?.code == .notInStore)
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.keepingBytes)
    func `a list goes through all sources, part by part, and passes over what is being received`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        var expected: [SourceName: Int64] = [:]
        for number in 0..<25 {
            expected[try await fixture.store.accept(String(repeating: "x", count: number))] = Int64(number)
        }
        try Data("x".utf8).write(to: URL(filePath: fixture.store.scratch + "/coming.part"))
        var listed: [StoredObject<SourceName>] = []
        var cursor: String?
        var parts = 0
        repeat {
            let page = try await fixture.store.sources.list(after: cursor, limit: 10)
            listed += page.elements
            cursor = page.next
            parts += 1
        } while cursor != nil
        #expect(parts == 3)
        #expect(listed.count == 25)
        #expect(Dictionary(listed.map { ($0.name, $0.bytes) }) { $1 } == expected)
        let capacity = try await fixture.store.capacity()
        // What waits in a bucket takes no room here.
        #expect(capacity.waiting == (backend == .bucket ? 0 : expected.values.reduce(0, +)))
    }

    @Test(
        .hasCases(for: .ceph), arguments: ["../secret", "/etc/passwd", "", ".", "..", "a\0b", "a/b"],
        Backend.keepingBytes)
    func `a name that leads elsewhere is refused`(name: String, backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let secret = fixture.store.directory + "/secret"
        try Data("secret".utf8).write(to: URL(filePath: secret))
        let sources = fixture.store.sources
        let name = SourceName(rawValue: name)
        await #expect(throws: AttachmentError.self) { _ = try await sources.open(name).release() }
        _ = try? await sources.remove([name])
        #expect(FileManager.default.fileExists(atPath: secret))
    }

    @Test func `a link among the sources is not followed`() async throws {
        let fixture = try Fixture()
        try Data("secret".utf8).write(to: URL(filePath: fixture.store.directory + "/secret"))
        try FileManager.default.createSymbolicLink(
            atPath: fixture.store.scratch + "/link", withDestinationPath: "../secret")
        let sources = fixture.store.sources
        await #expect(throws: AttachmentError.self) {
            _ = try await sources.open(SourceName(rawValue: "link")).release()
        }
    }
}
