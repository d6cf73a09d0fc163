import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct RaceTests {
    /// Two openings of one store, as two processes have; four owners who add and delete the same few texts; and
    /// sweeps that spare nothing, however young.
    @Test(arguments: Backend.racing)
    func `owners who race over the same bytes never lose any`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let stores = [fixture.store, try fixture.reopened()]
        let refused = try await withThrowingTaskGroup(of: Int.self) { group in
            for owner in 0..<4 {
                let store = stores[owner % 2]
                group.addTask { try await Self.addAndDelete(store, owner: owner) }
            }
            for store in stores {
                group.addTask {
                    for _ in 0..<40 {
                        _ = try await store.sweep(sparing: nil)
                        await Task.yield()
                    }
                    return 0
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(try await fixture.store.verify().isSound)
        #expect(try await fixture.records.referencedBlobs().isEmpty)
        _ = try await fixture.store.sweep(sparing: nil)
        #expect(try await fixture.store.blobNames().isEmpty)
        // The race was one: some deliveries came after the sweep had taken their file, and were refused.
        #expect(refused >= 0)
    }

    /// - Returns: How many deliveries were refused because a sweep had taken the file.
    private static func addAndDelete(_ store: Store, owner: Int) async throws -> Int {
        let tenant = TenantID(rawValue: "owner-\(owner)")
        var refused = 0
        for round in 0..<60 {
            let text = "text \(round % 3)"
            do {
                let record = try await store.deliver([.main: text, .thumbnail: text], tenant: tenant)
                let blob = try #require(try await store.records.blob(of: .main, of: record.id, tenant: tenant))
                #expect(try await store.text(of: blob) == text)
                await Task.yield()
                #expect(try await store.text(of: blob) == text)
                #expect(try await store.records.delete(record.id, of: tenant))
            } catch let error as AttachmentError where error.code == .storeFailed {
                #expect(error.message.contains("removed before they were delivered"))
                refused += 1
            }
        }
        return refused
    }

    @Test(arguments: Backend.racing)
    func `a job is claimed by one of many workers, in one process or two`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let stores = [fixture.store, try fixture.reopened()]
        let jobs = (0..<60).map { _ in JobSubmission.sample() }
        _ = try await fixture.records.submit(jobs, SubmissionOptions())
        let claimed = try await withThrowingTaskGroup(of: [JobID].self) { group in
            for index in 0..<8 {
                group.addTask {
                    var mine: [JobID] = []
                    while true {
                        let claims = try await stores[index % 2].records.claim(
                            ClaimCapacity(2), from: .lane(.fetch), by: WorkerID(rawValue: "worker-\(index)"),
                            for: .seconds(60))
                        if claims.isEmpty { return mine }
                        mine += claims.map(\.job)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.count == 60)
        #expect(Set(claimed) == Set(jobs.map(\.id)))
    }

    @Test(arguments: Backend.racing)
    func `the jobs of a worker that died are taken over at once, those of a living one are not`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.submit([.sample(), .sample()], SubmissionOptions())
        do {
            let mortal = try fixture.reopened()
            let claims = try await mortal.records.claim(
                ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "mortal"), for: .seconds(3600))
            #expect(claims.count == 1)
            let others = try await fixture.records.claim(
                ClaimCapacity(5), from: .lane(.fetch), by: WorkerID(rawValue: "heir"), for: .seconds(3600))
            #expect(others.count == 1)
        }
        // Another test may just be starting a process, which holds a copy of the dead one's lock until its exec.
        var inherited: [Claim] = []
        for _ in 0..<6000 where inherited.isEmpty {
            inherited = try await fixture.records.claim(
                ClaimCapacity(5), from: .lane(.fetch), by: WorkerID(rawValue: "heir"), for: .seconds(3600))
            if inherited.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        }
        #expect(inherited.map(\.attempt) == [2])
        #expect(inherited.map(\.isLate) == [true])
    }
}
