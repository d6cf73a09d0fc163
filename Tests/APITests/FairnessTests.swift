import API
import Attachments
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

    private func accept(_ jobs: [JobSubmission], in live: LiveService) async throws {
        _ = try await live.store.records.submit(jobs, SubmissionOptions())
        live.service.jobs.submitted()
    }

    /// A job whose source is here.
    private func stored(
        _ content: String, of tenant: TenantID, priority: JobPriority, in live: LiveService
    ) throws -> JobSubmission {
        var file = try live.spool.create()
        try unsafe Array(content.utf8).withUnsafeBytes { bytes in try unsafe file.write(bytes) }
        return JobSubmission(
            tenant: tenant, profile: .archive, priority: priority,
            attachments: [AttachmentSubmission(location: .spool(name: try file.commit()))])
    }

    private func cancel(_ job: JobSubmission, in live: LiveService) async throws {
        live.service.jobs.cancelled(try #require(try await live.store.records.cancel(job.id, of: job.tenant)))
    }

    private func upload(
        _ content: String, priority: JobPriority, deadline: Double? = nil, in live: LiveService
    ) async throws -> Tree {
        let deadline = deadline.map { "&deadline=\($0)" } ?? ""
        let reply = try await live.send(
            .post, "/v1/jobs?profile=notification&priority=\(priority.rawValue)\(deadline)",
            ["Content-Type": "application/octet-stream", "Prefer": "wait=60"], body: Data(content.utf8))
        return try reply.json
    }

    @Test(arguments: Slowness.allCases)
    func `hundreds of slow origins of one tenant keep nobody else from their places`(slowness: Slowness) async throws {
        try await LocalOrigin.run(host: "0.0.0.0") { request in
            if request.path.hasPrefix("/good") { return LocalOrigin.Answer(body: Data("fault: null".utf8)) }
            return try await slowness.answer(to: request, after: Int.random(in: 0..<1_000_000))
        } _: { origin in
            try await LiveService.run({
                $0.worker = .faultCodec
                $0.widths = JobService.Widths(codecs: 2)
                $0.fetchAllow = ["127.0.0.0/8"]
            }) { live in
                let port = origin.port
                // Each an origin by itself.
                let hosts = (0..<600).map { "127.1.\($0 / 200).\($0 % 200 + 1)" }
                try await accept(hosts.map { job(Self.bob, "http://\($0):\(port)/slow") }, in: live)
                let width = KeptPlaces.bulk(of: FetchWidths().tenant)
                try await eventually { Set(origin.requests.map { $0.headers["host"] }).count >= width }
                if slowness != .redirecting {
                    #expect(origin.requests.count == width, "no more of one tenant are fetched at once")
                }
                let prompt = try await upload("fault: echo a", priority: .interactive, deadline: 10, in: live)
                #expect(prompt["state"].string == "delivered" && prompt["attachments"][0]["fidelity"].string == "full")
                #expect(try await upload("fault: echo b", priority: .bulk, in: live)["state"].string == "delivered")
                let payload = try await live.send(
                    .post, "/v1/payloads/apns",
                    json: #"{"aps":{"alert":{"body":"A"},"mutable-content":1},"att":{"a":"\#(origin.url("/good/1"))"}}"#
                )
                #expect(payload.status == 200)
                #expect(payload.text.contains("https://media.example.com/c/"), "\(payload.text)")
                // Fetches too: of another's bulk work, and of the same tenant's own where somebody waits.
                let others = [
                    job(live.tenant, origin.url("/good/2")),
                    job(Self.bob, origin.url("/good/3"), priority: .interactive),
                ]
                try await accept(others, in: live)
                for job in others {
                    let record = try await live.service.jobs.finished(job.id, of: job.tenant, within: .seconds(60))
                    #expect(record?.state == .delivered)
                }
                let pending = try await live.store.records.usage(of: Self.bob).pendingJobs
                #expect(pending > 0, "\(slowness): it was over before")
            }
        }
    }

    @Test func `10,000 bulk jobs of one tenant let another's next one pass`() async throws {
        try await LocalOrigin.run { request in
            LocalOrigin.Answer(body: Data("fault: echo \(request.path.split(separator: "/").last ?? "")".utf8))
        } _: { origin in
            try await LiveService.run({
                $0.worker = .faultCodec
                $0.widths = JobService.Widths(codecs: 2)
            }) { live in
                for thousand in 0..<10 {
                    try await accept(
                        (0..<1000).map { job(Self.bob, origin.url("/flood/\(thousand)-\($0)")) }, in: live)
                }
                try await eventually { live.reports.list.count >= 20 }
                for number in 0..<3 {
                    let before = live.reports.list.count
                    let next = job(live.tenant, origin.url("/good/\(number)"))
                    try await accept([next], in: live)
                    let record = try await live.service.jobs.finished(next.id, of: live.tenant, within: .seconds(60))
                    #expect(record?.state == .delivered)
                    // The report follows the record.
                    let index = try await whenFound { live.reports.list.firstIndex { $0.job == next.id } }
                    // Those that had their codec already, and some that came while this one was recorded.
                    #expect(index - before < 500)
                }
                #expect(try await live.store.records.usage(of: Self.bob).pendingJobs > 5000)
            }
        }
    }

    @Test func `no bulk work is in a place that is kept for whoever waits`() async throws {
        try await LiveService.run({
            $0.worker = .faultCodec
            $0.codecs = 3
            $0.widths = JobService.Widths(codecs: 3)
        }) { live in
            let held = try (0..<20).map {
                try stored("fault: late-sleep \($0)", of: Self.bob, priority: .bulk, in: live)
            }
            try await accept(held, in: live)
            try await eventually { live.codecs.statistics.placesUsed == 2 }
            for number in 0..<10 {
                let prompt = try await upload("fault: echo \(number)", priority: .interactive, in: live)
                #expect(prompt["state"].string == "delivered")
                #expect(live.codecs.statistics.placesUsed <= 3)
            }
            try await eventually { live.codecs.statistics.placesUsed == 2 }
            for job in held { try await cancel(job, in: live) }
        }
    }

    @Test func `bulk work yields the processor to whoever waits`() async throws {
        try await LiveService.run({ $0.worker = .faultCodec }) { live in
            for (priority, nice) in [(JobPriority.bulk, 10), (.interactive, 0)] {
                let job = try await upload("fault: nice \(priority.rawValue)", priority: priority, in: live)
                let id = AttachmentID(rawValue: try #require(job["attachments"][0]["id"].string))
                let blob = try await live.store.records.blob(of: .main, of: id, tenant: live.tenant)
                let file = try live.store.blobs.open(try #require(blob))
                let text = try FileHandle(fileDescriptor: file.number, closeOnDealloc: false).readToEnd() ?? Data()
                #expect(String(decoding: text, as: UTF8.self) == "main at nice \(nice)")
            }
        }
    }

    @Test func `a job that finds no place ends at its deadline, and whoever waits for it is told`() async throws {
        try await LiveService.run({
            $0.worker = .faultCodec
            $0.codecs = 1
            $0.widths = JobService.Widths(quick: 1, expensive: 1)
        }) { live in
            let first = try stored("fault: late-sleep", of: live.tenant, priority: .interactive, in: live)
            try await accept([first], in: live)
            try await eventually { live.codecs.statistics.placesUsed == 1 }
            let job = try await upload("fault: null", priority: .interactive, deadline: 0.5, in: live)
            #expect(job["state"].string == "failed")
            #expect(job["attachments"][0]["error"]["code"].string == "deadline_exceeded")
            let id = JobID(rawValue: try #require(job["id"].string))
            let record = try #require(try await live.store.records.job(id, of: live.tenant))
            #expect(record.state == .failed && record.attempt == 0, "it was never begun")
            #expect(live.reports.list.filter { $0.job == id }.map(\.state) == [.failed])
            try await cancel(first, in: live)
        }
    }
}
