import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

/// Keys of renditions that are kept encrypted.
@Suite struct RenditionKeyTests {
    private static let key = MediaEncryption.Key(
        key: Data("canary-51b7-of-exactly-32-bytes!".utf8), iv: Data(count: 16), sha256: Data(count: 32))
    private static let ada = TenantID(rawValue: "ada")

    /// Delivers an attachment whose rendition is encrypted.
    private func deliver(in store: Store, text: String = "ciphertext") async throws -> AttachmentRecord {
        let run = RunID.generate()
        _ = try await store.records.submit(
            [.sample(tenant: Self.ada, profile: .notification, run: run)], SubmissionOptions())
        let claim = try #require(
            try await store.records.claim(
                ClaimCapacity(1), from: .run(run), by: WorkerID(rawValue: run.rawValue), for: .seconds(60)
            ).first)
        let blob = try await store.commit(text)
        var outcome = AttachmentOutcome.delivered(claim.attachments[0], [.main: blob])
        guard case .success(var result) = outcome.result else { preconditionFailure("it was delivered") }
        result.renditions[.main]?.rendition.encryption = try store.records.seal(
            MediaEncryption(.matrix, Self.key), of: Self.ada, for: blob.sha256)
        outcome.result = .success(result)
        return try #require(try await store.records.deliver([outcome], under: claim).attachments.first)
    }

    private func main(of id: AttachmentID, in store: Store) async throws -> Rendition {
        try #require(try await store.records.attachment(id, of: Self.ada)?.renditions[.main])
    }

    @Test(arguments: Backend.allCases)
    func `a rendition's key is sealed in the record, opens for its tenant and bytes alone, and stands nowhere`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let store = fixture.store
        let delivered = try await deliver(in: store)
        let rendition = try await main(of: delivered.id, in: store)
        #expect(rendition == delivered.renditions[.main])
        let sealed = try #require(rendition.encryption)
        #expect(store.records.unseal(sealed, of: Self.ada, for: rendition.sha256) == MediaEncryption(.matrix, Self.key))
        #expect(store.records.unseal(sealed, of: .local, for: rendition.sha256).key == nil)
        #expect(store.records.unseal(sealed, of: Self.ada, for: String(repeating: "0", count: 64)).key == nil)
        for text in ["canary-51b7", Self.key.key.base64EncodedString(), Self.key.key.base64URL] {
            try fixture.expectNowhere(text)
        }
        let linked = try await store.records.link(to: delivered.id, of: Self.ada, renditions: nil, for: .seconds(60))
        let (_, token) = try #require(linked)
        #expect(try await store.records.open(token, role: .main)?.rendition == rendition)
    }

    @Test(arguments: Backend.allCases)
    func `at a rotation all keys are sealed anew, and no key of the ring goes that seals one`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let store = fixture.store
        var ids: [AttachmentID] = []
        for number in 0..<3 { ids.append(try await deliver(in: store, text: "ciphertext \(number)").id) }
        let old = try #require(try await main(of: ids[0], in: store).encryption).kid
        #expect(try await store.records.keysInUse().contains(old))
        try store.keys.rotate()
        #expect(try await store.records.keysInUse().contains(old))
        _ = try await deliver(in: store, text: "of the new key")
        try await store.sealAnew()
        for id in ids {
            let rendition = try await main(of: id, in: store)
            let sealed = try #require(rendition.encryption)
            #expect(sealed.kid != old)
            #expect(store.records.unseal(sealed, of: Self.ada, for: rendition.sha256).key == Self.key)
        }
        #expect(try await !store.records.keysInUse().contains(old))
        #expect(try await store.records.sealAnew() == 0)
    }

    @Test(arguments: Backend.allCases)
    func `a sweep seals anew what a rotation that was killed has left`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let store = fixture.store
        let id = try await deliver(in: store).id
        let old = try #require(try await main(of: id, in: store).encryption).kid
        try store.keys.rotate()
        _ = try await store.sweep()
        #expect(try #require(try await main(of: id, in: store).encryption).kid != old)
    }

    @Test func `with the ring lost the record says so, and its key is nil`() async throws {
        let fixture = try Fixture()
        let id = try await deliver(in: fixture.store).id
        let keys = fixture.directory.path + "/keys"
        try FileManager.default.removeItem(atPath: keys)
        #expect(throws: StoreError.lostKeys(path: keys)) { try fixture.reopened() }
        #expect(!FileManager.default.fileExists(atPath: keys))
        let word = Data("new".utf8)
        #expect(FileManager.default.createFile(atPath: keys, contents: word, attributes: [.posixPermissions: 0o600]))
        let reopened = try fixture.reopened()
        let rendition = try await main(of: id, in: reopened)
        let sealed = try #require(rendition.encryption)
        #expect(
            reopened.records.unseal(sealed, of: Self.ada, for: rendition.sha256) == MediaEncryption(.matrix, nil))
        try await reopened.sealAnew()
    }
}
