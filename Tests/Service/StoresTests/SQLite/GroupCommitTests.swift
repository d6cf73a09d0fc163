import SatchelCore
import Postgres
import GRDB
import TestSupport
import Testing

@testable import Stores

@Suite struct GroupCommitTests {
    @Test func `a hundred writes at once share a few commits`() async throws {
        let fixture = try Fixture(onDisk: true)
        let records = fixture.sqlite
        let before = records.commits.commits
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { _ = try await records.submit([.sample()], SubmissionOptions()) }
            }
            try await group.waitForAll()
        }
        let commits = records.commits.commits - before
        #expect(commits <= 33, "\(commits) commits")
        let page = try await fixture.reopened().records.jobs(
            of: .local, where: RecordFilter(), after: nil, limit: 1000)
        #expect(page.elements.count == 100)
    }

    @Test func `one that fails takes back only itself`() async throws {
        let fixture = try Fixture()
        let records = fixture.sqlite
        let outcomes = await withTaskGroup { group in
            for index in 0..<60 {
                group.addTask {
                    do {
                        return try await records.write { work in
                            _ = try work.run(
                                "INSERT INTO tombstones (name, made_at) VALUES ($1, 0)", [.text("\(index)")])
                            if index % 3 == 0 { throw AttachmentError.queueFull }
                            return true
                        }
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(outcomes == 40)
        let kept = try await records.read { work in
            try work.run("SELECT name FROM tombstones").map { try $0.text("name") }
        }
        #expect(Set(kept) == Set((0..<60).filter { $0 % 3 != 0 }.map(String.init)))
    }

    @Test func `looking for work that isn't there writes nothing`() async throws {
        let fixture = try Fixture()
        let before = fixture.sqlite.commits.commits
        for _ in 0..<10 {
            fixture.clock.advance(.seconds(1))
            #expect(
                try await fixture.sqlite.claim(
                    ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "w"), for: .seconds(1)
                ).isEmpty)
        }
        #expect(fixture.sqlite.commits.commits == before)
    }
}
