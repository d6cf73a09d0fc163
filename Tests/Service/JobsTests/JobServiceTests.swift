import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import Synchronization
import TestSupport
import Testing

@testable import CodecPool
@testable import Ingest
@testable import Jobs
@testable import Platform

/// The workers of a service, with real stores, real processes and a codec that does as its source says.
@Suite(.serialized, .timeLimit(.minutes(10))) struct JobServiceTests {
    private static let tenant = JobBench.tenant

    private func url(_ url: String, headers: [String: String] = [:]) -> AttachmentSubmission {
        AttachmentSubmission(location: .url(url, headers: headers))
    }

    // MARK: The way of a job

    @Test func `a job's followers hear its stages, its renditions and its end, and the log gets one record`()
        async throws
    {
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(body: Data("fault: null".utf8)) }) { origin in
            try await JobBench.run { bench in
                let job = try await bench.submit([url(origin.url("/a"))])
                let record = try await bench.finished(job)
                #expect(record.state == .delivered)
                var heard: [String] = []
                for await event in bench.jobs.events.follow(job, of: Self.tenant) {
                    switch event.event.what {
                    case .started(let attempt): heard.append("started \(attempt)")
                    case .stage(_, let step): heard.append(step.name)
                    case .rendition(_, let report): heard.append(report.role.rawValue)
                    case .progress(_, let received, let total): heard.append("\(received) of \(total ?? -1)")
                    case .finished(let state): heard.append(state.rawValue)
                    default: heard.append("other")
                    }
                }
                #expect(heard.first == "started 1" && heard.last == "delivered")
                #expect(heard.contains("11 of 11"))
                #expect(Set(["fetch", "identify", "thumbnail", "main", "commit"]).isSubset(of: heard))
                let report = try await whenFound { bench.reports.list.first { $0.job == job } }
                #expect(report.lane == .fetch && report.attempt == 1 && report.attachments[0].fidelity == .full)
                #expect(report.stages.keys.contains("fetch"))
                #expect((report.queueSeconds ?? -1) >= 0 && report.seconds >= report.workSeconds ?? 0)
            }
        }
    }

    @Test(arguments: ["a.mp4", "video/mp4"])
    func `the first codec process that takes a source has the decoders that its name or type asks for`(
        told: String
    ) async throws {
        try await JobBench.run { bench in
            func deliver(_ text: String, name: String?, type: String?) async throws {
                var source = try await bench.upload(text)
                (source.name, source.declaredType) = (name, type)
                let record = try await bench.finished(try await bench.submit([source]))
                #expect(record.state == .delivered)
            }
            try await deliver("fault: null 1", name: "a.jpg", type: "image/jpeg")
            // One zygote of the common decoder set, and its reserve.
            #expect(bench.pool.statistics.zygotes <= 2)
            let isType = told.contains("/")
            try await deliver("fault: null 2", name: isType ? nil : told, type: isType ? told : nil)
            try await eventually("a zygote of the full set") { bench.pool.statistics.zygotes > 2 }
        }
    }

    @Test func `a job that another process finishes is noticed by whoever waits here`() async throws {
        try await JobBench.run(codecs: 1) { here in
            here.jobs.drain()
            try await JobBench.run(codecs: 1, at: here.home) { elsewhere in
                let job = try await here.submit([try here.upload("fault: null")])
                // Only the poll of the queue there, and of the record here, can tell.
                let record = try await here.finished(job, within: patience)
                #expect(record.state == .delivered)
            }
        }
    }

    @Test func `cancelling a job ends its codec at once and frees the place`() async throws {
        try await JobBench.run(codecs: 1) { bench in
            let job = try await bench.submit([try await bench.upload("fault: late-sleep")])
            try await bench.busy()
            bench.jobs.cancelled(try #require(try await bench.store.records.cancel(job, of: Self.tenant)))
            let next = try await bench.submit([try await bench.upload("fault: null")])
            #expect(try await bench.finished(next).state == .delivered)
            #expect(try await bench.finished(job).state == .cancelled)
            #expect(bench.reports.list.filter { $0.job == job }.map(\.state) == [.cancelled])
            #expect(bench.pool.statistics.deaths[.deadline] == 1)
            #expect(try await bench.blobs() == 2)
        }
    }

    @Test func `draining finishes what is underway, takes nothing new and hands back what takes too long`()
        async throws
    {
        try await JobBench.run(codecs: 2) { bench in
            let short = try await bench.submit([try await bench.upload("fault: late-pause")])
            let long = try await bench.submit([try await bench.upload("fault: late-sleep")])
            try await eventually { bench.pool.statistics.placesUsed == 2 }
            await bench.jobs.drain(within: .seconds(3))
            let unclaimed = try await bench.submit([try await bench.upload("fault: null")])
            #expect(try await bench.finished(short).state == .delivered)
            #expect(try await bench.finished(long, within: .seconds(2)).state == .pending)
            #expect(try await bench.finished(unclaimed, within: .zero).state == .pending)
        }
    }

    // MARK: Lanes

    @Test func `costly sources move to their lane, take few places at a lower priority, and photographs pass them`()
        async throws
    {
        try await JobBench.run(codecs: 3) { bench in
            var videos: [JobID] = []
            for number in 0..<4 {
                // Each a job of two, so that its attachments count, not the job.
                let pair = [
                    try await bench.upload("fault: expensive 250 \(number) 0"),
                    try await bench.upload("fault: expensive 250 \(number) 1"),
                ]
                videos.append(try await bench.submit(pair))
            }
            try await eventually { bench.pool.statistics.costlyPlacesUsed > 0 }
            var photographs: [JobID] = []
            for number in 0..<20 {
                photographs.append(try await bench.submit([try await bench.upload("fault: echo \(number)")]))
            }
            for photograph in photographs { #expect(try await bench.finished(photograph).state == .delivered) }
            let unfinished = try await videos.asyncCount(where: {
                try await !bench.finished($0, within: .zero).state.isFinished
            })
            #expect(unfinished >= 2, "20 photographs were done before 8 videos")
            for video in videos {
                let record = try await bench.finished(video)
                #expect(record.state == .delivered && record.attachments.allSatisfy { $0.fidelity == .full })
                // The attempt in the quick lane was taken back.
                #expect(record.attempt == 1)
                #expect(try await bench.text(of: .main, in: record) == "main at nice 10")
            }
            #expect(bench.pool.statistics.costlyPlacesPeak == 1)
            // A job's record is there before its report is.
            let reports = try await whenFound { bench.reports.list.count == 24 ? bench.reports.list : nil }
            let lanes = Dictionary(grouping: reports, by: \.lane).mapValues(\.count)
            #expect(lanes == [.quick: 20, .expensive: 4])
        }
    }

    @Test func `a costly source is fetched once although it changes its lane`() async throws {
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(body: Data("fault: expensive 10".utf8)) }) { origin in
            try await JobBench.run { bench in
                let job = try await bench.submit([url(origin.url("/video"))])
                #expect(try await bench.finished(job).state == .delivered)
                #expect(origin.count(of: "/video") == 1)
            }
        }
    }

    @Test func `jobs that wait for their origins keep no photograph from its codec`() async throws {
        try await LocalOrigin.run({ _ in
            try await Task.sleep(for: .seconds(600))
            return LocalOrigin.Answer()
        }) { origin in
            try await JobBench.run(codecs: 1) { bench in
                for number in 0..<20 { try await bench.submit([url(origin.url("/\(number)"))]) }
                try await eventually { origin.requests.count >= 20 }
                let job = try await bench.submit([try await bench.upload("fault: null")])
                #expect(try await bench.finished(job).state == .delivered)
            }
        }
    }

    @Test func `whoever waits for an answer goes before a batch that came first`() async throws {
        try await JobBench.run(codecs: 1) { bench in
            // Holds the only codec until all of them wait for it.
            let first = try await bench.submit([try await bench.upload("fault: sleep")])
            try await bench.busy()
            var bulk: [JobID] = []
            var prompt: [JobID] = []
            for number in 0..<10 {
                bulk.append(
                    try await bench.submit([try await bench.upload("fault: echo bulk\(number)")], priority: .bulk))
            }
            for number in 0..<8 {
                prompt.append(try await bench.submit([try await bench.upload("fault: echo prompt\(number)")]))
            }
            bench.jobs.cancelled(try #require(try await bench.store.records.cancel(first, of: Self.tenant)))
            for job in bulk + prompt { #expect(try await bench.finished(job).state == .delivered) }
            let ends = try await whenFound { bench.reports.list.count == 19 ? bench.reports.list.map(\.job) : nil }
            let last = try #require(ends.lastIndex { prompt.contains($0) })
            // Not for ever: now and then one of the batch has its turn.
            #expect(ends[..<last].count { bulk.contains($0) } <= 3)
        }
    }

    // MARK: Shared work

    @Test(arguments: [true, false])
    func `1,000 identical submissions cost one fetch and one run, and all are delivered`(isFetched: Bool) async throws {
        let answer = "fault: busy 300"
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(body: Data(answer.utf8)) }) { origin in
            try await JobBench.run { bench in
                let fetched = url(origin.url("/same"), headers: ["Authorization": "Bearer abc"])
                // Several at a time, as they come over HTTP.
                let submitted = try await withThrowingTaskGroup(of: [JobID].self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            var jobs: [JobID] = []
                            for _ in 0..<50 {
                                var attachment = isFetched ? fetched : try await bench.upload(answer)
                                attachment.identifier = UUID().uuidString
                                jobs.append(try await bench.submit([attachment]))
                            }
                            return jobs
                        }
                    }
                    return try await group.reduce(into: [JobID]()) { $0 += $1 }
                }
                #expect(submitted.count == 1000)
                for job in submitted {
                    let record = try await bench.finished(job)
                    #expect(record.state == .delivered && record.attachments[0].fidelity == .full)
                    #expect(record.attachments[0].renditions.count == 2)
                }
                #expect(origin.count(of: "/same") == (isFetched ? 1 : 0))
                #expect(bench.pool.statistics.processes == 1)
                // One file for each rendition, whoever delivered first; and nothing of the uploads.
                #expect(try await bench.blobs() == 2)
                #expect(try FileManager.default.contentsOfDirectory(atPath: bench.store.scratch).isEmpty)
            }
        }
    }

    @Test func `other headers, wishes, profiles and tenants have work of their own`() async throws {
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(body: Data("fault: null".utf8)) }) { origin in
            try await JobBench.run { bench in
                let plain = url(origin.url("/x"))
                var hidden = plain
                hidden.options.thumbnailHidden = true
                var cropped = plain
                cropped.request.crop = .centre
                let other = TenantID(rawValue: "bob")
                var submitted: [(JobID, TenantID)] = []
                for attachment in [plain, url(origin.url("/x"), headers: ["Authorization": "a"]), hidden, cropped] {
                    submitted.append((try await bench.submit([attachment]), Self.tenant))
                }
                submitted.append((try await bench.submit([plain], profile: .avatar), Self.tenant))
                submitted.append((try await bench.submit([plain], tenant: other), other))
                for (job, tenant) in submitted {
                    #expect(try await bench.finished(job, tenant: tenant).state == .delivered)
                }
                #expect(origin.count(of: "/x") == 6)
                #expect(bench.pool.statistics.processes == 6)
            }
        }
    }

    @Test func `uploads of the same bytes share a run, also afterwards; with the results deleted they get their own`()
        async throws
    {
        try await JobBench.run { bench in
            let first = try await bench.finished(try await bench.submit([try await bench.upload("fault: echo x")]))
            let second = try await bench.finished(try await bench.submit([try await bench.upload("fault: echo x")]))
            #expect(bench.pool.statistics.processes == 1)
            #expect(second.attachments[0].steps.map(\.name) == ["shared"])
            #expect(try await bench.text(of: .main, in: second) == "main x")
            for record in [first, second] {
                #expect(try await bench.store.records.delete(record.attachments[0].id, of: Self.tenant))
            }
            #expect(try await bench.blobs() == 0)
            let third = try await bench.finished(try await bench.submit([try await bench.upload("fault: echo x")]))
            #expect(third.state == .delivered && bench.pool.statistics.processes == 2)
            #expect(try await bench.text(of: .main, in: third) == "main x")
        }
    }

    @Test func `what failed serves nobody else, and a fetch that is not to be shared is made anew`() async throws {
        try await LocalOrigin.run({ _ in LocalOrigin.Answer(body: Data("fault: refuse".utf8)) }) { origin in
            try await JobBench.run { bench in
                for _ in 0..<2 {
                    let record = try await bench.finished(
                        try await bench.submit([try await bench.upload("fault: refuse")]))
                    #expect(record.attachments[0].error?.code == .corrupt)
                }
                #expect(bench.pool.statistics.processes == 2)
            }
            try await JobBench.run(sharing: RequestCoalescer.Settings(fetched: .zero)) { bench in
                for _ in 0..<3 { _ = try await bench.finished(try await bench.submit([url(origin.url("/y"))])) }
                #expect(origin.count(of: "/y") == 3)
            }
        }
    }

    @Test func `one who waits for the same work keeps its own deadline, and takes over when the first is cancelled`()
        async throws
    {
        try await JobBench.run { bench in
            let first = try await bench.submit([try await bench.upload("fault: late-main-sleep")])
            try await bench.busy()
            let hurried = try await bench.submit([try await bench.upload("fault: late-main-sleep")], deadline: 1)
            let patient = try await bench.submit([try await bench.upload("fault: late-main-sleep")], deadline: 4)
            let record = try await bench.finished(hurried)
            #expect(record.attachments[0].error?.code == .deadlineExceeded)
            #expect(bench.pool.statistics.processes == 1)
            bench.jobs.cancelled(try #require(try await bench.store.records.cancel(first, of: Self.tenant)))
            let other = try await bench.finished(patient)
            // Its own run made the thumbnail in the time that was left.
            #expect(other.state == .delivered && other.attachments[0].fidelity == .partial)
            #expect(bench.pool.statistics.processes == 2)
        }
    }
}

extension Sequence {
    fileprivate func asyncCount(where isCounted: (Element) async throws -> Bool) async rethrows -> Int {
        var count = 0
        for element in self where try await isCounted(element) { count += 1 }
        return count
    }
}
