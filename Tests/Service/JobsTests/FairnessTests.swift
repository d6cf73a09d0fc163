import SatchelCore
import CodecPool
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

@testable import Ingest
@testable import Jobs

/// What one tenant's work, or one slow origin, may take from everybody else: counted by what is underway and by who comes
/// to an end before whom, never by time.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FairnessTests {
    private static let bob = TenantID(rawValue: "bob")

    /// How an origin keeps whoever asks it.
    enum Slowness: String, CaseIterable, CustomTestStringConvertible {
        case silent, dripping, redirecting

        var testDescription: String { rawValue }

        func answer(to request: LocalOrigin.Request, after turn: Int) async throws -> LocalOrigin.Answer {
            switch self {
            case .silent: LocalOrigin.Answer(delay: .seconds(600))
            // 16 KiB at a time: as slow as may be.
            case .dripping: LocalOrigin.Answer(body: Data(repeating: 0, count: 10 << 20), pause: .seconds(9))
            case .redirecting:
                LocalOrigin.Answer(
                    status: 302, headers: ["Location": "/slow/\(turn)"], delay: .milliseconds(500))
            }
        }
    }

    private func job(
        _ tenant: TenantID, _ url: String, priority: JobPriority = .bulk, deadline: Double? = nil
    ) -> JobSubmission {
        JobSubmission(
            tenant: tenant, profile: .notification, priority: priority, deadline: deadline,
            attachments: [AttachmentSubmission(location: .url(url, headers: [:]))])
    }

    private func accept(_ jobs: [JobSubmission], in bench: JobBench) async throws {
        _ = try await bench.store.records.submit(jobs, SubmissionOptions())
        bench.jobs.submitted()
    }

    /// A job whose source is here.
    private func stored(
        _ content: String, of tenant: TenantID, priority: JobPriority, in bench: JobBench
    ) async throws -> JobSubmission {
        JobSubmission(
            tenant: tenant, profile: .archive, priority: priority, attachments: [try await bench.upload(content)])
    }

    private func cancel(_ job: JobSubmission, in bench: JobBench) async throws {
        bench.jobs.cancelled(try #require(try await bench.store.records.cancel(job.id, of: job.tenant)))
    }

    /// What becomes of an upload.
    private func finish(
        _ content: String, priority: JobPriority, deadline: Double? = nil, in bench: JobBench
    ) async throws -> JobRecord {
        try await bench.finished(
            try await bench.submit([try await bench.upload(content)], priority: priority, deadline: deadline))
    }

    @Test(arguments: Slowness.allCases)
    func `hundreds of slow origins of one tenant keep nobody else from their places`(slowness: Slowness) async throws {
        try await LocalOrigin.run(host: "0.0.0.0") { request in
            if request.path.hasPrefix("/good") { return LocalOrigin.Answer(body: Data("fault: null".utf8)) }
            return try await slowness.answer(to: request, after: Int.random(in: 0..<1_000_000))
        } _: { origin in
            try await JobBench.run(codecs: 2, concurrency: .init(codecs: 2), allowing: ["127.0.0.0/8"]) { bench in
                let port = origin.port
                // Each an origin by itself.
                let hosts = (0..<600).map { "127.1.\($0 / 200).\($0 % 200 + 1)" }
                try await accept(hosts.map { job(Self.bob, "http://\($0):\(port)/slow") }, in: bench)
                let width = ReservedPlaces.bulk(of: FetchConcurrency().tenant)
                try await eventually { Set(origin.requests.map { $0.headers["host"] }).count >= width }
                if slowness != .redirecting {
                    #expect(origin.requests.count == width, "no more of one tenant are fetched at once")
                }
                let prompt = try await finish("fault: echo a", priority: .interactive, deadline: 10, in: bench)
                #expect(prompt.state == .delivered && prompt.attachments[0].fidelity == .full)
                #expect(try await finish("fault: echo b", priority: .bulk, in: bench).state == .delivered)
                // Fetches too: of another's bulk work, and of the same tenant's own where somebody waits.
                let others = [
                    job(JobBench.tenant, origin.url("/good/2")),
                    job(Self.bob, origin.url("/good/3"), priority: .interactive),
                ]
                try await accept(others, in: bench)
                for job in others {
                    let record = try await bench.jobs.finished(job.id, of: job.tenant, within: patience)
                    #expect(record?.state == .delivered)
                }
                let pending = try await bench.store.records.overview(of: Self.bob).usage.pendingJobs
                #expect(pending > 0, "\(slowness): it was over before")
            }
        }
    }

    @Test func `10,000 bulk jobs of one tenant let another's next one pass`() async throws {
        try await LocalOrigin.run { request in
            LocalOrigin.Answer(body: Data("fault: echo \(request.path.split(separator: "/").last ?? "")".utf8))
        } _: { origin in
            try await JobBench.run(codecs: 2, concurrency: .init(codecs: 2)) { bench in
                for thousand in 0..<10 {
                    try await accept(
                        (0..<1000).map { job(Self.bob, origin.url("/flood/\(thousand)-\($0)")) }, in: bench)
                }
                try await eventually { bench.reports.list.count >= 20 }
                for number in 0..<3 {
                    let before = bench.reports.list.count
                    let next = job(JobBench.tenant, origin.url("/good/\(number)"))
                    try await accept([next], in: bench)
                    let record = try await bench.jobs.finished(next.id, of: JobBench.tenant, within: patience)
                    #expect(record?.state == .delivered)
                    // The report follows the record.
                    let index = try await whenFound { bench.reports.list.firstIndex { $0.job == next.id } }
                    // Those that had their codec already, and some that came while this one was recorded.
                    #expect(index - before < 500)
                }
                #expect(try await bench.store.records.overview(of: Self.bob).usage.pendingJobs > 5000)
            }
        }
    }

    @Test func `no bulk work is in a place that is kept for whoever waits`() async throws {
        try await JobBench.run(codecs: 3, concurrency: .init(codecs: 3)) { bench in
            var held: [JobSubmission] = []
            for number in 0..<20 {
                held.append(try await stored("fault: late-sleep \(number)", of: Self.bob, priority: .bulk, in: bench))
            }
            try await accept(held, in: bench)
            try await eventually { bench.pool.statistics.placesUsed == 2 }
            for number in 0..<10 {
                let prompt = try await finish("fault: echo \(number)", priority: .interactive, in: bench)
                #expect(prompt.state == .delivered)
                #expect(bench.pool.statistics.placesUsed <= 3)
            }
            try await eventually { bench.pool.statistics.placesUsed == 2 }
            for job in held { try await cancel(job, in: bench) }
        }
    }

    @Test func `bulk work yields the processor to whoever waits`() async throws {
        try await JobBench.run(codecs: 2, concurrency: .init(quick: 4, expensive: 2)) { bench in
            for (priority, nice) in [(JobPriority.bulk, 10), (.interactive, 0)] {
                let job = try await finish("fault: nice \(priority.rawValue)", priority: priority, in: bench)
                #expect(try await bench.text(of: .main, in: job) == "main at nice \(nice)")
            }
        }
    }

    @Test func `a job that finds no place ends at its deadline, and whoever waits for it is told`() async throws {
        try await JobBench.run(codecs: 1, concurrency: .init(quick: 1, expensive: 1)) { bench in
            let first = try await stored("fault: late-sleep", of: JobBench.tenant, priority: .interactive, in: bench)
            try await accept([first], in: bench)
            try await eventually { bench.pool.statistics.placesUsed == 1 }
            let record = try await finish("fault: null", priority: .interactive, deadline: 0.5, in: bench)
            #expect(record.attachments[0].error?.code == .deadlineExceeded)
            #expect(record.state == .failed && record.attempt == 0, "it was never begun")
            // The report follows the record.
            try await eventually { bench.reports.list.contains { $0.job == record.id } }
            #expect(bench.reports.list.filter { $0.job == record.id }.map(\.state) == [.failed])
            try await cancel(first, in: bench)
        }
    }
}
