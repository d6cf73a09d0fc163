import SatchelCore
import Foundation
import Platform
import Stores
import TestSupport
import Testing

@testable import Jobs

@Suite(.timeLimit(.minutes(2))) struct NotificationServiceTests {
    /// Makes payloads of what their categories say, but for one notification that can't be made for a while.
    private struct Renderer: FiringRenderer {
        let failing: NotificationID?
        let failures: Recorder<FiringID>
        let made = Recorder<FiringID>()

        func draft(
            of firing: Firing, from materials: FiringMaterials, at instant: Instant
        ) throws(AttachmentError) -> String {
            if firing.notification.id == failing, failures.list.isEmpty {
                failures.add(firing.record.id)
                throw .storeFailed(reason: "for a while")
            }
            made.add(firing.record.id)
            let category = firing.notification.submission.category.flatMap { materials.categories[$0] }
            return category?.summaryFormat ?? ""
        }

        func completion(of firing: Firing, as draft: String, at now: Instant) -> FiringCompletion {
            FiringCompletion(
                firing.record, at: now,
                .finished(
                    FiringCompletion.Finished(
                        payload: TokenTemplate(Data(draft.utf8), hiding: []), links: [], media: [], dropped: [],
                        call: nil))
            )
        }

        func missedCall(
            _ notification: NotificationRecord, _ id: FiringID, _ occurrence: Occurrence, _ now: Instant
        ) -> OutgoingCall? {
            nil
        }

        func mediaFailedCall(
            _ notification: NotificationRecord, _ failures: [MediaFailure], _ now: Instant
        ) -> OutgoingCall? {
            nil
        }
    }

    /// - Parameter source: Of a medium that is prepared anew for each firing; nil for none.
    private static func put(
        _ id: NotificationID, at instant: Instant?, job: JobID? = nil, from source: String? = nil,
        by trigger: Trigger? = nil, category: String? = nil, in bench: JobBench
    ) async throws {
        let now = try await bench.store.records.now()
        _ = try await bench.store.records.put(
            NewNotification(
                id: id, tenant: JobBench.tenant, bodyDigest: "1",
                submission: NotificationSubmission(
                    payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil,
                    onFailure: .drop, deadline: 10, media: [], trigger: trigger ?? (instant == nil ? .manual : nil),
                    lateLimit: 3600,
                    handover: nil, metadata: [:], category: category, traceparent: nil,
                    lead: source == nil ? nil : 120),
                job: job, attachments: [],
                next: instant.map { Occurrence(at: $0, local: nil, note: nil, position: .instant($0)) }, rules: nil,
                acceptedAt: now,
                sources: source.map { url in
                    JobSubmission(
                        tenant: JobBench.tenant, id: JobID(rawValue: "media"), profile: .notification,
                        attachments: [AttachmentSubmission(location: .url(url, headers: [:]))])
                }), limit: nil)
    }

    private static func service(
        of bench: JobBench, ahead: Duration = NotificationService.ahead
    ) -> NotificationService {
        NotificationService(
            records: bench.store.records, jobs: bench.jobs, zones: TimeZoneDatabase(), ahead: ahead)
    }

    /// Long enough that a busy machine makes a few payloads before.
    private static let soon: Duration = .seconds(30)

    @Test func `asked for many times at once by hand it fires as often, under one key once`() async throws {
        try await JobBench.run(codecs: 1) { bench in
            let (id, service) = (NotificationID(rawValue: "a"), Self.service(of: bench))
            try await Self.put(id, at: nil, in: bench)
            let renderer = Renderer(failing: nil, failures: Recorder())
            func fire(_ count: Int, key: String?) async throws -> [Int] {
                try await withThrowingTaskGroup(of: FiringRecord?.self) { group in
                    for _ in 0..<count {
                        group.addTask {
                            try await service.fire(
                                id, of: JobBench.tenant, idempotencyKey: key, hasHandover: true, by: renderer)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append(try #require($1?.number)) }
                }
            }
            #expect(try await fire(8, key: "k") == Array(repeating: 1, count: 8))
            #expect(try await fire(8, key: nil).sorted() == Array(2...9))
            #expect(try await fire(1, key: "k") == [1])
            let record = try #require(try await bench.store.records.notification(id, of: JobBench.tenant))
            #expect(record.fired == 9 && record.counts.delivered == 9)
        }
    }

    @Test func `media that are prepared anew are once for each firing, however many are asked for at once`()
        async throws
    {
        try await JobBench.run(codecs: 1) { bench in
            let (id, service) = (NotificationID(rawValue: "a"), Self.service(of: bench))
            // No address that may be asked.
            try await Self.put(id, at: nil, from: "http://10.0.0.1/photo.jpg", in: bench)
            let renderer = Renderer(failing: nil, failures: Recorder())
            let firings = try await withThrowingTaskGroup(of: FiringRecord?.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        try await service.fire(
                            id, of: JobBench.tenant, idempotencyKey: nil, hasHandover: true, by: renderer)
                    }
                }
                return try await group.reduce(into: []) { $0.append(try #require($1)) }
            }
            #expect(firings.allSatisfy { $0.state == .delivered && $0.job == $0.id.job })
            let jobs = try await bench.store.records.jobs(
                of: JobBench.tenant, where: RecordFilter(), after: nil, limit: 100
            ).elements
            #expect(Set(jobs.map(\.id)) == Set(firings.map(\.id.job)))
        }
    }

    @Test func `one whose payload can't be made just now keeps no other from firing, and is made later`() async throws {
        try await JobBench.run(codecs: 1) { bench in
            let service = Self.service(of: bench)
            let now = try await bench.store.records.now()
            let ids = ["a", "bad", "c"].map { NotificationID(rawValue: $0) }
            for id in ids { try await Self.put(id, at: now, in: bench) }
            let renderer = Renderer(failing: ids[1], failures: Recorder())
            let working = Task { await service.run(by: renderer) }
            try await eventually("all are delivered") {
                try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 9).count == 3
            }
            working.cancel()
            await working.value
            let list = try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 9)
            #expect(list.map(\.place) == [1, 2, 3] && list.last?.notification == ids[1])
            #expect(renderer.failures.list == [list.last?.id])
        }
    }

    @Test func `those of a zone whose rules are missing keep no other from firing, however many they are`() async throws
    {
        try await JobBench.run(codecs: 1) { bench in
            let service = Self.service(of: bench)
            let now = try await bench.store.records.now()
            let lost = Trigger.calendar(timeZone: "Mars/Olympus", components: CalendarComponents(), repeats: true)
            for number in 0..<NotificationService.group * 2 {
                try await Self.put(
                    NotificationID(rawValue: "lost\(number)"), at: now - .seconds(60), by: lost, in: bench)
            }
            let id = NotificationID(rawValue: "a")
            try await Self.put(id, at: now, in: bench)
            let renderer = Renderer(failing: nil, failures: Recorder())
            let working = Task { await service.run(by: renderer) }
            try await eventually("the other one is delivered") {
                try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 9).count == 1
            }
            working.cancel()
            await working.value
            let list = try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 9)
            #expect(list.map(\.notification) == [id])
        }
    }

    @Test func `a burst of many groups fires each once`() async throws {
        try await JobBench.run(codecs: 1) { bench in
            let service = Self.service(of: bench)
            let now = try await bench.store.records.now()
            let ids = (0..<NotificationService.group * 3 + 7).map { NotificationID(rawValue: "\($0)") }
            for id in ids { try await Self.put(id, at: now, in: bench) }
            let renderer = Renderer(failing: nil, failures: Recorder())
            let working = Task { await service.run(by: renderer) }
            try await eventually("all are delivered") {
                try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 1000).count == ids.count
            }
            working.cancel()
            await working.value
            let list = try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 1000)
            #expect(Set(list.map(\.notification)) == Set(ids) && list.allSatisfy { $0.number == 1 })
        }
    }

    @Test func `payloads are made before their instants, and leave with these`() async throws {
        // In memory: on a busy disk it would take longer to put so many than it is until their instant.
        try await JobBench.run(codecs: 1, in: StoreMemory()) { bench in
            let service = Self.service(of: bench, ahead: Self.soon)
            let instant = try await bench.store.records.now() + Self.soon
            let ids = (0..<NotificationService.group * 2 + 7).map { NotificationID(rawValue: "\($0)") }
            for id in ids { try await Self.put(id, at: instant, in: bench) }
            let renderer = Renderer(failing: nil, failures: Recorder())
            let working = Task { await service.run(by: renderer) }
            try await eventually("all are made") { renderer.made.list.count == ids.count }
            let madeAt = try await bench.store.records.now()
            let early = try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 1000)
            #expect(madeAt < instant && early.isEmpty, "the machine was too busy for any to be made before")
            try await eventually("all are delivered") {
                try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 1000).count == ids.count
            }
            working.cancel()
            await working.value
            let list = try await bench.store.records.firings(of: JobBench.tenant, after: 0, limit: 1000)
            #expect(Set(list.map(\.notification)) == Set(ids))
            #expect(list.allSatisfy { $0.firedAt.map { $0 >= instant } ?? false && $0.createdAt >= instant })
            #expect(Set(list.map(\.id)) == Set(renderer.made.list), "none was made twice")
        }
    }

    @Test func `a payload that was made before is made anew where its notification or what it is made of was changed`()
        async throws
    {
        try await JobBench.run(codecs: 1) { bench in
            let (service, records) = (Self.service(of: bench, ahead: Self.soon), bench.store.records)
            let instant = try await records.now() + Self.soon
            func put(_ summary: String) async throws {
                var category = Category(id: summary == "still" ? "still" : "news")
                category.summaryFormat = summary
                _ = try await records.putCategory(category, of: JobBench.tenant)
            }
            for summary in ["first", "still"] { try await put(summary) }
            for (id, category) in [("other", "news"), ("same", "still"), ("gone", "still")] {
                try await Self.put(NotificationID(rawValue: id), at: instant, category: category, in: bench)
            }
            let renderer = Renderer(failing: nil, failures: Recorder())
            let working = Task { await service.run(by: renderer) }
            try await eventually("all are made") { renderer.made.list.count == 3 }
            try await put("second")
            _ = try await records.remove(NotificationID(rawValue: "gone"), of: JobBench.tenant, from: .pending)
            #expect(try await records.now() < instant, "the machine was too busy for any to be made before")
            try await eventually("those that are left are delivered") {
                try await records.firings(of: JobBench.tenant, after: 0, limit: 9).count == 2
            }
            working.cancel()
            await working.value
            let payloads = try await records.firings(of: JobBench.tenant, after: 0, limit: 9).map { firing in
                "\(firing.notification.rawValue) \(String(decoding: firing.payload?.stored ?? Data(), as: UTF8.self))"
            }
            #expect(Set(payloads) == ["other second", "same still"])
            #expect(renderer.made.list.count == 4)
        }
    }

    @Test func `who is stopped as it waits for media leaves the firing to whoever looks next`() async throws {
        try await JobBench.run(codecs: 1) { bench in
            let (id, service) = (NotificationID(rawValue: "a"), Self.service(of: bench))
            let job = try await bench.submit([try await bench.upload("fault: sleep")])
            try await Self.put(id, at: nil, job: job, in: bench)
            let renderer = Renderer(failing: nil, failures: Recorder())
            let firing = Task {
                try await service.fire(
                    id, of: JobBench.tenant, idempotencyKey: nil, hasHandover: true, by: renderer)
            }
            try await eventually("it waits") {
                try await bench.store.records.firing(1, of: id, tenant: JobBench.tenant) != nil
            }
            firing.cancel()
            _ = await firing.result
            let left = try await bench.store.records.firing(1, of: id, tenant: JobBench.tenant)
            #expect(left?.isWaiting == true)
        }
    }
}
