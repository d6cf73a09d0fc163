import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Bytes
@testable import Stores

@Suite struct SweepTests {
    @Test func `what a killed process was receiving is swept, and what a living one receives is not`() async throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let store = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys")
        let names = ["left.part", "held.part", "left"]
        for name in names { try Data("x".utf8).write(to: URL(filePath: store.scratch + "/" + name)) }
        let held = try FileHandle(forReadingFrom: URL(filePath: store.scratch + "/held.part"))
        #expect(flock(held.fileDescriptor, LOCK_SH | LOCK_NB) == 0)
        var staging = try #require(store.staging as? FileStagingArea)
        // Too young to be judged.
        #expect(try await staging.removeAbandoned { $0 > .seconds(3600) } == 0)
        staging.untilHeld = .zero
        #expect(try await staging.removeAbandoned { $0 > .seconds(3600) } == 1)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: store.scratch)) == Set(names.dropFirst()))
        try held.close()
        #expect(try await staging.removeAbandoned { $0 > .seconds(3600) } == 1)
    }

    @Test(arguments: Backend.allCases)
    func `a sweep spares what is young, since it may be about to be delivered`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let orphan = try await fixture.store.commit("orphan")
        let report = try await fixture.store.sweep()
        #expect(report.orphans == 0)
        #expect(try await fixture.store.text(of: orphan.name) == "orphan")
    }

    @Test func `whoever has the store alone sweeps everything that no record refers to, and nothing else`() async throws
    {
        let directory = try TemporaryDirectory(inMemory: true)
        let clock = TestClock()
        let kept: Set<BlobName>
        let needed: SourceName
        do {
            let store = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys") { clock.now }
            _ = try await store.deliver([.main: "main", .thumbnail: "small"])
            kept = try await store.blobNames()
            _ = try await store.commit("orphan")
            try Data("x".utf8).write(to: URL(filePath: store.directory + "/staging/left"))
            try Data("x".utf8).write(to: URL(filePath: store.scratch + "/left.part"))
            _ = try await store.accept("left")
            needed = try await store.accept("needed")
            var submission = JobSubmission.sample()
            submission.attachments[0].location = .spool(name: needed)
            _ = try await store.records.submit([submission], SubmissionOptions())
            let other = try Store.open(
                at: directory.path + "/store", keys: directory.path + "/keys", exclusively: true)
            #expect(!other.isExclusive)
        }
        let alone = try Store.open(at: directory.path + "/store", keys: directory.path + "/keys", exclusively: true)
        #expect(alone.isExclusive)
        let report = try await alone.sweep()
        #expect(report == SweepReport(expired: 0, orphans: 1, bytes: 6, leftovers: 3))
        #expect(try await alone.blobNames() == kept)
        #expect(try FileManager.default.contentsOfDirectory(atPath: alone.scratch) == [needed.rawValue])
        #expect(try FileManager.default.contentsOfDirectory(atPath: alone.directory + "/workers").isEmpty)
        #expect(try await alone.sweep() == SweepReport(expired: 0, orphans: 0, bytes: 0, leftovers: 0))
    }

    @Test(arguments: Backend.allCases)
    func `what a sweep took cannot be delivered any more`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample()], SubmissionOptions())
        let claim = try await fixture.claim()
        let slow = try await fixture.store.commit("slow")
        #expect(try await fixture.store.sweep(sparing: nil).orphans == 1)
        let error = await #expect(throws: AttachmentError.self) {
            try await fixture.records.deliver([.delivered(claim.attachments[0], [.main: slow])], under: claim)
        }
        #expect(error?.code == .storeFailed)
        let again = try await fixture.store.commit("slow")
        let job = try await fixture.records.deliver([.delivered(claim.attachments[0], [.main: again])], under: claim)
        #expect(job.state == .delivered)
    }

    @Test(arguments: Backend.allCases)
    func `everything that expired goes in one sweep, also what shares its bytes`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let ada = TenantID(rawValue: "ada")
        let kept = try await fixture.store.deliver([.main: "same"])
        for _ in 0..<3 { _ = try await fixture.store.deliver([.main: "same"], tenant: ada, profile: .notification) }
        _ = try await fixture.store.deliver([.main: "own"], tenant: ada, profile: .notification)
        fixture.clock.advance(.seconds(8 * 86_400))
        #expect(try await fixture.store.sweep().expired == 4)
        let left = try await fixture.records.attachments(of: ada, where: RecordFilter(), after: nil, limit: 10)
        #expect(left.elements.isEmpty)
        #expect(try await fixture.store.blobNames().count == 1)
        #expect(try await fixture.records.attachment(kept.id, of: .local) != nil)
    }
}
