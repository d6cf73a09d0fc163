import SatchelCore
import Foundation
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// Runs that the machines of a database share.
@Suite struct SharedRunTests {
    private let database: RecordDatabase
    private let memory: StoreMemory
    private let clock = TestClock()

    init() throws {
        database = try RecordDatabase()
        memory = try StoreMemory()
    }

    /// A machine's store, and its runs.
    private func machine() throws -> (store: Store, runs: SharedRuns) {
        let store = try database.open(bytesIn: memory, clock)
        return (store, try #require(store.records.sharedRuns))
    }

    private static func job(_ work: String, of run: RunID) -> JobSubmission {
        JobSubmission(
            tenant: .local, profile: .archive, priority: .bulk, run: run, workKey: work,
            attachments: [
                AttachmentSubmission(
                    identifier: work,
                    location: .object(bucket: "photos", key: work, state: ObjectState(etag: "\"1\"", bytes: 1)))
            ])
    }

    private static func page(
        _ works: [String], of run: RunID, from start: String?, to end: String, isLast: Bool = false
    ) -> RunPage {
        RunPage(
            start: start, end: end, isFirst: start == nil, isLast: isLast, listed: works.count,
            jobs: works.map { job($0, of: run) })
    }

    private static func submit(
        _ page: RunPage, of run: RunID, to runs: SharedRuns, retrying: FailureRetry = .none
    ) async throws -> [RunAnswer]? {
        try await runs.submit(page, of: run, retrying: retrying) { $0 + "\($1.count);" }
    }

    /// Carries out all that waits in a run, none of which is media.
    private static func carryOut(_ run: RunID, in store: Store) async throws -> [JobRecord] {
        var done: [JobRecord] = []
        let claims = try await store.records.claim(
            ClaimCapacity(100), from: .run(run), by: WorkerID(rawValue: "worker"), for: .seconds(60))
        for claim in claims {
            let failure = AttachmentOutcome.failed(claim.attachments[0], .unrecognizedType(sniffed: nil))
            done.append(try await store.records.deliver([failure], under: claim))
        }
        return done
    }

    @Test func `of two that list one is heard, and the other goes on where that one was`() async throws {
        let (first, second) = (try machine(), try machine())
        let run = try await first.runs.join("name", source: "source", tenant: .local)
        let joined = try await second.runs.join("name", source: "other", tenant: .local)
        #expect(joined.id == run.id && joined.source == "source")
        #expect(try await second.runs.status(of: run.id)?.machines == 2)
        #expect(try await first.runs.leads(run.id))
        #expect(try await !second.runs.leads(run.id))
        let page = Self.page(["a", "b"], of: run.id, from: nil, to: "b")
        #expect(try await Self.submit(page, of: run.id, to: first.runs) == [.taken, .taken])
        #expect(try await Self.submit(page, of: run.id, to: second.runs) == nil)
        let rest = Self.page(["c"], of: run.id, from: "b", to: "c", isLast: true)
        #expect(try await Self.submit(rest, of: run.id, to: second.runs) == [.taken])
        let status = try #require(try await first.runs.status(of: run.id))
        #expect(status.position == "c" && status.isWhole && status.listed == 3 && status.counts == "2;1;")
        #expect(status.waiting == 3 && status.unfinished == 3 && status.nextStep == .wait)
        // In the order of the list.
        let done = try await Self.carryOut(run.id, in: second.store)
        #expect(done.map { $0.attachments.first?.identifier } == ["a", "b", "c"])
    }

    @Test func `what another run has in hand holds a page back until that has come to its end`() async throws {
        let machine = try machine()
        let other = RunID.generate()
        try await machine.store.records.announce(other)
        _ = try await machine.store.records.submit(Self.job("b", of: other))
        let run = try await machine.runs.join("name", source: "source", tenant: .local).id
        let page = Self.page(["a", "b"], of: run, from: nil, to: "b", isLast: true)
        #expect(try await Self.submit(page, of: run, to: machine.runs) == [.taken, .elsewhere])
        let held = try #require(try await machine.runs.status(of: run))
        #expect(held.position == nil && !held.isWhole && held.listed == 0 && held.counts.isEmpty)
        let ended = try await Self.carryOut(other, in: machine.store)
        #expect(try await Self.submit(page, of: run, to: machine.runs) == [.taken, .earlier(ended[0])])
        #expect(try await machine.runs.status(of: run)?.listed == 2)
    }

    @Test func `who is interrupted is not waited for, and may have left something unwritten`() async throws {
        let (first, second) = (try machine(), try machine())
        let run = try await first.runs.join("name", source: "source", tenant: .local).id
        _ = try await second.runs.join("name", source: "source", tenant: .local)
        #expect(try await first.runs.leads(run))
        #expect(try await !second.runs.leads(run))
        try await first.runs.abandon(run)
        #expect(try await second.runs.leads(run))
        let status = try #require(try await second.runs.status(of: run))
        #expect(status.machines == 1 && status.hasLostMachines)
    }

    @Test func `a run ends when all machines have left, and the next of its name finds what was done`() async throws {
        let machine = try machine()
        let run = try await machine.runs.join("name", source: "source", tenant: .local).id
        let page = Self.page(["a"], of: run, from: nil, to: "a", isLast: true)
        _ = try await Self.submit(page, of: run, to: machine.runs)
        let done = try await Self.carryOut(run, in: machine.store)
        // A machine of which nothing is heard any more.
        try database.server.execute(
            "INSERT INTO run_nodes VALUES ('\(run.rawValue)', '00000000-0000-4000-8000-000000000000')",
            in: database.name)
        let before = try #require(try await machine.runs.status(of: run))
        #expect(before.isDone && before.nextStep == .wait && before.machines == 1 && before.hasLostMachines)
        try await machine.runs.leave(run) { $0 + "left;" }
        try await machine.runs.leave(run) { $0 + "twice;" }
        #expect(try await machine.runs.status(of: run)?.nextStep == .end)
        try await machine.runs.end(run) { $0 + "end;" }
        let ended = try #require(try await machine.runs.status(of: run))
        #expect(ended.hasEnded && ended.counts == "1;left;end;")
        #expect(try await Self.submit(page, of: run, to: machine.runs) == nil)
        let next = try await machine.runs.join("name", source: "source", tenant: .local)
        #expect(next.id != run && next.position == nil)
        let again = Self.page(["a"], of: next.id, from: nil, to: "a", isLast: true)
        #expect(try await Self.submit(again, of: next.id, to: machine.runs) == [.earlier(done[0])])
        let third = Self.page(["a"], of: next.id, from: "a", to: "b", isLast: true)
        #expect(try await Self.submit(third, of: next.id, to: machine.runs, retrying: .all) == [.taken])
    }
}
