import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

/// Keys of encrypted sources, in what a store keeps.
@Suite struct SourceKeyTests {
    private static let key = MediaEncryption.Key(
        key: Data("canary-8e1d-of-exactly-32-bytes!".utf8), iv: Data(count: 16), sha256: Data(count: 32))

    private static var submission: JobSubmission {
        var submission = JobSubmission.sample(profile: .notification)
        submission.attachments[0].encryption = MediaEncryption(.matrix, key)
        return submission
    }

    private func expectNowhere(_ fixture: borrowing Fixture) throws {
        for text in ["canary-8e1d", Self.key.key.base64EncodedString(), Self.key.key.base64URL] {
            try fixture.expectNowhere(text)
        }
    }

    @Test(arguments: Backend.allCases)
    func `a source's key reaches the worker, is forgotten with the job, and stands in no byte of the store`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        var submission = Self.submission
        submission.attachments[0].location = .url("https://example.com/a", headers: ["Accept": "image/*"])
        _ = try await fixture.records.submit([submission], SubmissionOptions())
        try expectNowhere(fixture)
        let claim = try #require(try await fixture.store.claimNext())
        #expect(claim.submission.attachments[0].encryption?.key == Self.key)
        #expect(claim.submission.attachments[0].location == submission.attachments[0].location)
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .fetchFailed(.status, status: 404, reason: "x"))], under: claim)
        try expectNowhere(fixture)
        guard case .accepted = try await fixture.records.retry(submission.id, of: submission.tenant) else {
            Issue.record("a failed job isn't tried again")
            return
        }
        let again = try #require(try await fixture.store.claimNext())
        #expect(again.submission.attachments[0].encryption == MediaEncryption(.matrix, nil))
    }

    @Test(arguments: Backend.allCases)
    func `the ring's key that seals a source's is kept for as long as its job waits`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([Self.submission], SubmissionOptions())
        #expect(try await fixture.records.keysInUse().count == 1)
    }

    @Test func `headers and keys of several attachments come back to their own`() throws {
        let fixture = try Fixture()
        let ring = fixture.store.keys
        var submission = JobSubmission.sample(identifiers: ["a", "b", "c", "d"])
        submission.attachments[1].location = .url("https://example.com/b", headers: ["X": "1"])
        submission.attachments[2].encryption = MediaEncryption(.matrix, Self.key)
        submission.attachments[3].location = .url("https://example.com/d", headers: ["X": "2"])
        submission.attachments[3].encryption = MediaEncryption(
            .signal, .init(key: Data(count: 64), sha256: Data(count: 32), size: 7))
        let sealed = try #require(try SealedSecrets(of: submission, keys: ring))
        var opened = submission.withoutSecrets
        #expect(opened != submission)
        try sealed.open(into: &opened, keys: ring)
        #expect(opened == submission)
    }
}
