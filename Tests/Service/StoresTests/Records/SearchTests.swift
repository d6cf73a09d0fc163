import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

/// Lists that are narrowed: every store comes to what the filter says of each record.
@Suite struct SearchTests {
    private static let tenants = ["ada", "bob"].map(TenantID.init(rawValue:))
    private static let errors: [AttachmentError] = [.unreadable(Finding(.checksumDiffers)), .storeFull]

    /// Jobs of two tenants at several times and in all states, some tried again, some of a run.
    private static func fill(_ fixture: borrowing Fixture, _ random: inout SeededGenerator) async throws {
        let records = fixture.records
        for number in 0..<40 {
            let run = number % 9 == 4 ? RunID(rawValue: "r") : nil
            var job = JobSubmission.sample(
                tenant: tenants.randomElement(using: &random) ?? tenants[0],
                profile: [.archive, .notification].randomElement(using: &random) ?? .archive,
                mode: Bool.random(using: &random) ? .lenient : .strict, run: run,
                identifiers: Array(
                    ["a", "b", "c"].shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))))
            job.metadata = [:]
            for key in ["order", "app"] where Bool.random(using: &random) {
                job.metadata[key] = ["1", "2"].randomElement(using: &random)
            }
            if number == 20 { job.metadata["long"] = String(repeating: "x", count: 201) }
            _ = try await records.submit([job], SubmissionOptions())
            // Later in another millisecond, as ids have it.
            try await Task.sleep(for: .milliseconds(2))
            switch Int.random(in: 0...4, using: &random) {
            case 0: break
            case 1: _ = try await records.cancel(job.id, of: job.tenant)
            default:
                let source: ClaimSource = run.map { .run($0) } ?? .lane(.fetch)
                let claims = try await records.claim(
                    ClaimCapacity(1), from: source, by: WorkerID(rawValue: run == nil ? "w" : "r"), for: .seconds(600))
                guard let claim = claims.first, number % 10 != 7 else { continue }
                var outcomes: [AttachmentOutcome] = []
                for id in claim.attachments {
                    if Bool.random(using: &random) {
                        let blob = try await fixture.store.commit(id.rawValue, under: claim.id)
                        outcomes.append(.delivered(id, [.main: blob]))
                    } else {
                        outcomes.append(.failed(id, errors.randomElement(using: &random) ?? .storeFull))
                    }
                }
                let done = try await records.deliver(outcomes, under: claim)
                if done.state == .failed, Bool.random(using: &random) {
                    _ = try await records.retry(claim.job, of: claim.tenant)
                }
            }
            if number % 3 == 0 { fixture.clock.advance(.seconds(Int64.random(in: 1...200, using: &random))) }
        }
    }

    private static func filter(_ fixture: borrowing Fixture, _ random: inout SeededGenerator) -> RecordFilter {
        func maybe<Value>(_ values: [Value]) -> Value? {
            Int.random(in: 0...3, using: &random) == 0 ? values.randomElement(using: &random) : nil
        }
        func moment() -> Instant? {
            maybe([1, 500, 1000, 1500, 2500].map { fixture.clock.now - .seconds($0) })
        }
        let labels = ["1", "2"].flatMap { [JobLabel("order", $0), JobLabel("app", $0)] }
        return RecordFilter(
            state: maybe(WorkState.allCases), kind: maybe([.image, .video]), run: maybe([RunID(rawValue: "r")]),
            code: maybe([.corrupt, .storeFull, .withheld]), profile: maybe(["archive", "notification", "none"]),
            identifier: maybe(["a", "b"]), since: moment(), before: moment(),
            labels: Set([maybe(labels), maybe(labels)].compactMap(\.self)))
    }

    /// All pages of a list.
    private static func all<Element>(
        _ page: (String?) async throws -> Page<Element>
    ) async throws -> [Element] {
        var (elements, cursor): ([Element], String?) = ([], nil)
        repeat {
            let part = try await page(cursor)
            #expect(part.elements.count <= 3)
            #expect(part.next != cursor || cursor == nil, "a page goes on")
            elements += part.elements
            cursor = part.next
        } while cursor != nil
        return elements
    }

    @Test(arguments: Backend.allCases, [1, 2])
    func `a list has just what the filter says, newest first, on pages that look at few rows`(
        backend: Backend, seed: UInt64
    ) async throws {
        let fixture = try Fixture(backend)
        var random = SeededGenerator(seed: seed)
        try await Self.fill(fixture, &random)
        let records = fixture.records.looking(at: 4)
        // Of a record it isn't told of which run it is.
        var runs: [JobID: RunID] = [:]
        for tenant in Self.tenants {
            let whole = try await records.jobs(
                of: tenant, where: RecordFilter(run: RunID(rawValue: "r")), after: nil, limit: 1000)
            for job in whole.elements { runs[job.id] = RunID(rawValue: "r") }
        }
        #expect(!runs.isEmpty)
        var found = 0
        for number in 0..<60 {
            let tenant = Self.tenants[number % 2]
            let filter = Self.filter(fixture, &random)
            let all = try await records.jobs(of: tenant, where: RecordFilter(), after: nil, limit: 1000).elements
            let jobs = try await Self.all { try await records.jobs(of: tenant, where: filter, after: $0, limit: 3) }
            #expect(jobs.map(\.id) == all.filter { filter.matches($0, of: runs[$0.id]) }.map(\.id), "\(filter)")
            let attachments = try await Self.all {
                try await records.attachments(of: tenant, where: filter, after: $0, limit: 3)
            }
            let every = try await records.attachments(of: tenant, where: RecordFilter(), after: nil, limit: 1000)
            let expected = every.elements.filter { attachment in
                guard let job = all.first(where: { $0.id == attachment.job }) else { return false }
                return filter.matches(
                    attachment, of: runs[job.id], profile: job.profile, metadata: job.metadata)
            }
            #expect(attachments.map(\.id) == expected.map(\.id), "\(filter)")
            found += jobs.count + attachments.count
        }
        #expect(found > 30, "the filters leave something")
    }

    @Test(arguments: Backend.allCases)
    func `a job is found by the metadata that it has now, and not when it is gone`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        var job = JobSubmission.sample()
        func found(_ value: String) async throws -> Int {
            let filter = RecordFilter(labels: [JobLabel("message_id", value)])
            let jobs = try await records.jobs(of: .local, where: filter, after: nil, limit: 10).elements
            #expect(
                try await records.attachments(of: .local, where: filter, after: nil, limit: 10).elements.count
                    == jobs.count)
            return jobs.count
        }
        _ = try await records.submit(job)
        #expect(try await found("88213") == 1)
        job.metadata["message_id"] = "2"
        job.bodyDigest = "another"
        _ = try await records.submit(job)
        #expect(try await found("88213") == 0)
        #expect(try await found("2") == 1)
        #expect(try await records.deleteJob(job.id, of: .local))
        #expect(try await found("2") == 0)
    }

    @Test func `a place is found by halving, whatever the range`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            let end = Int64.random(in: 0...1000, using: &random)
            let least = Int64.random(in: 0...end, using: &random)
            var halving = Halving(0..<end)
            var looks = 0
            while let number = halving.next {
                halving.take(number >= least)
                looks += 1
            }
            #expect(halving.found == least && looks <= 10)
        }
    }

    @Test func `the least id of a millisecond comes before all that were made in it`() {
        for milliseconds: Int64 in [0, 1, 1_763_720_100_000, (1 << 48) - 1] {
            let least = AttachmentID.least(at: milliseconds)
            let made = UUID.version7(at: Instant(milliseconds: milliseconds)).uuidString.lowercased()
            #expect(least.rawValue < made && least.rawValue.prefix(13) == made.prefix(13))
        }
    }
}

extension RecordStore {
    /// The same, with pages that look at so few rows.
    func looking(at rows: Int) -> RecordStore {
        var store = self
        store.longestSearch = rows
        return store
    }
}

extension RecordFilter {
    /// - Parameter run: Of the job; nil for the service's.
    fileprivate func matches(_ job: JobRecord, of run: RunID?) -> Bool {
        func holds(_ property: (AttachmentRecord) -> Bool) -> Bool { job.attachments.contains(where: property) }
        return state.map { $0 == job.state } ?? true
            && isOf(run: run, profile: job.profile, metadata: job.metadata, createdAt: job.createdAt)
            && kind.map { kind in holds { $0.kind == kind } } ?? true
            && code.map { code in holds { $0.error?.code == code } } ?? true
            && identifier.map { identifier in holds { $0.identifier == identifier } } ?? true
    }

    /// - Parameters:
    ///   - run: Of the attachment's job; nil for the service's.
    ///   - profile: The name of its job's profile.
    ///   - metadata: Of its job.
    fileprivate func matches(
        _ attachment: AttachmentRecord, of run: RunID?, profile: String, metadata: [String: String]
    ) -> Bool {
        state.map { $0 == attachment.state } ?? true
            && isOf(run: run, profile: profile, metadata: metadata, createdAt: attachment.createdAt)
            && kind.map { $0 == attachment.kind } ?? true && code.map { $0 == attachment.error?.code } ?? true
            && identifier.map { $0 == attachment.identifier } ?? true
    }

    private func isOf(run: RunID?, profile: String, metadata: [String: String], createdAt: Instant) -> Bool {
        self.run.map { $0 == run } ?? true && self.profile.map { $0 == profile } ?? true
            && since.map { $0 <= createdAt } ?? true && before.map { createdAt < $0 } ?? true
            && (labels.isEmpty || labels.isSubset(of: JobLabel.found(in: metadata)))
    }
}
