import SatchelCore
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Bytes
@testable import Stores

@Suite(.timeLimit(.minutes(5))) struct VerifyTests {
    /// Each keeper of bytes and each keeper of records, and what nodes have; PostgreSQL over files has nothing of its own here.
    static let backends = Backend.of([.files, .memory, .bucket, .postgres, .cluster])

    private static func name(of attachment: AttachmentRecord, in store: Store) async throws -> BlobName {
        try #require(try await store.records.blob(of: .main, of: attachment.id, tenant: .local))
    }

    /// Has a blob other bytes, as many as before.
    private static func damage(_ name: BlobName, in store: Store) async throws {
        guard let files = store.blobs as? FileBlobStore else {
            let other = try await store.commit("Damaged")
            #expect(try await store.blobs.restore(name, from: other.name))
            return try await store.blobs.remove([other.name])
        }
        let path = try #require(files.path(of: name)).string
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        // One bit of one byte: neither size nor time tell.
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.write(contentsOf: Data("e".utf8))
        try file.close()
    }

    @Test(.hasCases(for: .ceph), arguments: backends)
    func `verify finds what is missing, damaged and orphaned, and is content with the rest`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let store = fixture.store
        _ = try await store.deliver([.main: "whole"])
        let damaged = try await store.deliver([.main: "damaged"])
        let missing = try await store.deliver([.main: "missing"])
        #expect(try await store.verify().isSound)
        let orphan = try await store.commit("orphan")
        let damagedName = try await Self.name(of: damaged, in: store)
        let missingName = try await Self.name(of: missing, in: store)
        try await Self.damage(damagedName, in: store)
        try await store.blobs.remove([missingName])
        let report = try await store.verify()
        #expect(!report.isSound)
        #expect(report.damaged == [damagedName])
        #expect(report.missing == [missingName])
        #expect(report.orphaned == [orphan.name])
        #expect(report.blobs == 2)

        // New deliveries of the same bytes are whole again.
        for text in ["damaged", "missing"] {
            let again = try await store.deliver([.main: text])
            #expect(try await store.text(of: try await Self.name(of: again, in: store)) == text)
        }
    }

    @Test(.hasCases(for: .ceph), arguments: backends)
    func `verify finds which sources of jobs that wait are gone`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let store = fixture.store
        var names: [SourceName] = []
        for text in ["kept", "lost"] {
            var waiting = JobSubmission.sample()
            let source = try await store.accept(text)
            waiting.attachments[0].location = .spool(name: source)
            _ = try await store.records.submit(waiting)
            names.append(source)
        }
        #expect(try await store.verify().isSound)
        try await store.sources.remove([names[1]])
        let report = try await store.verify()
        #expect(report.missingSources == [names[1]] && !report.isSound)
    }
}
