import SatchelCore
import Foundation
import Platform
import S3
import SystemPackage
import TestSupport
import Testing

@testable import Bytes
@testable import Stores

@Suite(.timeLimit(.minutes(5))) struct RepairTests {
    private static let ada = TenantID(rawValue: "ada")
    private static let bob = TenantID(rawValue: "bob")

    private static func blob(of attachment: AttachmentRecord, of tenant: TenantID, in store: Store) async throws
        -> BlobName
    {
        try #require(try await store.records.blob(of: .main, of: attachment.id, tenant: tenant))
    }

    @Test(.hasCases(for: .ceph), arguments: Backend.of([.files, .memory, .bucket, .postgres]))
    func `a blob comes back from equal bytes of its tenant, and of nobody else`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let store = fixture.store
        let first = try await store.deliver([.main: "equal"], tenant: Self.ada)
        let lonely = try await store.deliver([.main: "lonely"], tenant: Self.ada)
        try await store.deliver([.main: "lonely"], tenant: Self.bob)
        let (firstName, lonelyName) = (
            try await Self.blob(of: first, of: Self.ada, in: store),
            try await Self.blob(of: lonely, of: Self.ada, in: store)
        )
        try await store.blobs.remove([firstName, lonelyName])
        // Told, and nothing else: the next delivery stores them anew.
        let told = try await store.verify()
        #expect(Set(told.missing) == [firstName, lonelyName] && told.repaired.isEmpty)
        await #expect(throws: AttachmentError.self) { _ = try await store.text(of: firstName) }
        let second = try await store.deliver([.main: "equal"], tenant: Self.ada)
        let secondName = try await Self.blob(of: second, of: Self.ada, in: store)
        #expect(secondName != firstName)

        let report = try await store.verify(repairing: true)
        #expect(report.repaired == [firstName] && report.missing == [lonelyName] && !report.isSound)
        #expect(try await store.text(of: firstName) == "equal")
        // What couldn't be brought back comes with the next delivery, and then it can.
        let again = try await store.deliver([.main: "lonely"], tenant: Self.ada)
        #expect(try await store.text(of: try await Self.blob(of: again, of: Self.ada, in: store)) == "lonely")
        #expect(try await store.verify(repairing: true).repaired == [lonelyName])
        #expect(try await store.text(of: lonelyName) == "lonely")
        #expect(try await store.verify(repairing: true) == store.verify())
        // Each is removed for itself.
        #expect(try await store.records.delete(second.id, of: Self.ada))
        #expect(try await store.text(of: firstName) == "equal")
        #expect(try await store.verify().isSound)
    }

    /// Three blobs, `whole`, `removed` and `changed`, and a job that waits with its source.
    private static func fill(_ store: Store) async throws -> (names: [BlobName], source: SourceName) {
        var names: [BlobName] = []
        for text in ["whole", "removed", "changed"] {
            names.append(try await blob(of: try await store.deliver([.main: text]), of: .local, in: store))
        }
        var waiting = JobSubmission.sample()
        let source = try await store.accept("source")
        waiting.attachments[0].location = .spool(name: source)
        _ = try await store.records.submit(waiting)
        return (names, source)
    }

    @Test(.needs(.ceph))
    func `a bucket with versions gives back what was removed or written over, and sources`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let prefix = UUID().uuidString.lowercased()
        let bytes = try ByteStores.bucket(
            S3Gateway.versionedBucket, prefix: prefix, scratch: directory.path + "/store/spool")
        let store = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys", bytes: bytes)
        let client = try S3Client.ofGateway(S3Gateway.versionedBucket, prefix: prefix)
        let (names, source) = try await Self.fill(store)
        #expect(try await store.verify().isSound)

        try await store.blobs.remove([names[1], names[2]])
        for text in ["other", "changed!"] {
            try await client.put(Array(text.utf8), as: client.configuration.prefix + names[2].rawValue)
        }
        try await store.sources.remove([source])
        let told = try await store.verify()
        #expect(told.missing == [names[1]] && told.damaged == [names[2]] && told.missingSources == [source])
        await #expect(throws: AttachmentError.self) { _ = try await store.text(of: names[1]) }

        let report = try await store.verify(repairing: true)
        #expect(Set(report.repaired) == Set(names[1...]) && report.repairedSources == [source] && report.isSound)
        #expect(report.blobs == 2)
        #expect(try await store.text(of: names[1]) == "removed")
        #expect(try await store.text(of: names[2]) == "changed")
        #expect(
            String(decoding: try Files.read(0..<100, of: try await store.sources.open(source)), as: UTF8.self)
                == "source")
        let after = try await store.verify(repairing: true)
        #expect(after.isSound && after.repaired.isEmpty && after.repairedSources.isEmpty && after.blobs == 3)
        // A version is no blob.
        let versions = try await store.blobs.versions(of: names[0])
        #expect(versions.count == 1)
        #expect(try await store.text(of: try #require(versions.first)) == "whole")
        await #expect(throws: AttachmentError.self) { _ = try await store.blobs.content(of: versions[0], behind: nil) }
        #expect(try await store.blobNames() == Set(names))
    }

    @Test(arguments: [false, true])
    func `a store in a directory gets back what its backup has`(isFar: Bool) async throws {
        let fixture = try Fixture(onDisk: isFar)
        let elsewhere = try TemporaryDirectory(inMemory: true)
        let store = fixture.store
        let (filled, source) = try await Self.fill(store)
        var names = filled
        let path = elsewhere.path + "/backup"
        _ = try await store.backup(into: BackupDirectory(at: path))
        names.append(try await Self.blob(of: try await store.deliver([.main: "later"]), of: .local, in: store))
        // A file of its own, as what is linked is damaged in both.
        let damaged = try #require(store.files.path(of: names[2])).string
        try FileManager.default.removeItem(atPath: damaged)
        try Data("other".utf8).write(to: URL(filePath: damaged))
        try await store.blobs.remove([names[1], names[3]])
        try await store.sources.remove([source])

        #expect(try await store.verify(repairing: true).missing.count == 2)
        let report = try await store.verify(repairing: true, from: BackupDirectory(existingAt: path))
        #expect(Set(report.repaired) == Set(names[1...2]) && report.repairedSources == [source])
        #expect(report.missing == [names[3]] && report.damaged.isEmpty && report.missingSources.isEmpty)
        for (name, text) in zip(names, ["whole", "removed", "changed"]) {
            #expect(try await store.text(of: name) == text)
        }
        let shelf = URL(filePath: damaged).deletingLastPathComponent().path
        #expect(try FileManager.default.contentsOfDirectory(atPath: shelf).allSatisfy { !$0.hasSuffix(".part") })
        #expect(try Files.size(of: try await store.sources.open(source)) == 6)
        #expect(try await store.verify().missing == [names[3]])
    }
}
