import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Jobs

/// What followers of a job hear.
@Suite(.timeLimit(.minutes(10))) struct JobEventsTests {
    private let tenant = TenantID(rawValue: "one")
    private let job = JobID(rawValue: "job")

    private func event(
        _ what: JobEvent.What, generation: Int = 1, job: String = "job", tenant: String = "one"
    ) -> JobEvent {
        JobEvent(
            tenant: TenantID(rawValue: tenant), job: JobID(rawValue: job), generation: generation, what: what)
    }

    private func stage(_ number: Int) -> JobEvent.What {
        .stage(AttachmentID(rawValue: "a"), Step(name: "stage \(number)", seconds: 0))
    }

    private func all(_ stream: AsyncStream<JobEvents.Numbered>) async -> [JobEvents.Numbered] {
        var heard: [JobEvents.Numbered] = []
        for await event in stream { heard.append(event) }
        return heard
    }

    @Test func `whoever resumes after any event hears exactly the rest`() async throws {
        var random = SeededGenerator()
        for _ in 0..<20 {
            let events = JobEvents()
            let count = Int.random(in: 1...40, using: &random)
            for number in 0..<count {
                events.publish(event(stage(number)))
                // Another job's events take numbers too.
                if Bool.random(using: &random) { events.publish(event(stage(number), job: "other")) }
            }
            events.publish(event(.finished(.delivered)))
            let told = await all(events.follow(job, of: tenant))
            #expect(told.map(\.event.what) == (0..<count).map(stage) + [.finished(.delivered)])
            for (index, last) in told.enumerated() {
                let rest = await all(events.follow(job, of: tenant, after: last.id))
                #expect(rest == Array(told[(index + 1)...]))
            }
            // Of another process, or no id at all: from the beginning.
            for stranger in ["deadbeef-7", "nonsense", ""] {
                #expect(await all(events.follow(job, of: tenant, after: stranger)) == told)
            }
        }
    }

    @Test func `a follower that reads late and slowly misses nothing, and the end closes its stream`() async throws {
        let events = JobEvents()
        let stream = events.follow(job, of: tenant)
        // Nobody reads yet: telling doesn't wait.
        for number in 0..<200 { events.publish(event(stage(number))) }
        let reading = Task { await all(stream) }
        try await Task.sleep(for: .milliseconds(20))
        for number in 200..<205 {
            events.publish(event(stage(number)))
            try await Task.sleep(for: .milliseconds(2))
        }
        events.publish(event(.finished(.failed)))
        let heard = await reading.value
        #expect(heard.map(\.event.what) == (0..<205).map(stage) + [.finished(.failed)])
    }

    @Test func `a new generation is told from its start, and the old one's events no more`() async {
        let events = JobEvents()
        events.publish(event(stage(1)))
        events.publish(event(.finished(.failed)))
        events.publish(event(.accepted, generation: 2))
        // A late worker.
        events.publish(event(stage(2)))
        events.publish(event(stage(3), generation: 2))
        events.publish(event(.finished(.delivered), generation: 2))
        events.publish(event(stage(4), generation: 2))
        let heard = await all(events.follow(job, of: tenant))
        #expect(heard.map(\.event.what) == [.accepted, stage(3), .finished(.delivered)])
    }

    @Test func `jobs of two tenants under the same id don't mix`() async {
        let events = JobEvents()
        let other = TenantID(rawValue: "two")
        events.publish(event(stage(1)))
        events.publish(event(stage(2), tenant: "two"))
        events.publish(event(.finished(.failed), tenant: "two"))
        #expect(await all(events.follow(job, of: other)).map(\.event.what) == [stage(2), .finished(.failed)])
        #expect(await !events.waitForEnd(of: job, tenant: tenant, within: .milliseconds(20)))
        events.publish(event(.finished(.cancelled)))
        #expect(await all(events.follow(job, of: tenant)).map(\.event.what) == [stage(1), .finished(.cancelled)])
    }

    @Test func `of a fetch's progress only the latest is kept`() async {
        let events = JobEvents()
        let (one, two) = (AttachmentID(rawValue: "1"), AttachmentID(rawValue: "2"))
        for bytes in 1...1000 as ClosedRange<Int64> {
            events.publish(event(.progress(one, received: bytes, of: 1000)))
            events.publish(event(.progress(two, received: bytes, of: nil)))
        }
        events.publish(event(.finished(.delivered)))
        let heard = await all(events.follow(job, of: tenant)).map(\.event.what)
        #expect(
            heard == [
                .progress(one, received: 1000, of: 1000), .progress(two, received: 1000, of: nil),
                .finished(.delivered),
            ])
    }

    @Test func `an end is noticed whether it came before the wait, during it or not at all`() async throws {
        let events = JobEvents()
        #expect(await !events.waitForEnd(of: job, tenant: tenant, within: .milliseconds(10)))
        // Beyond the limit of the test.
        let waiting = Task { await events.waitForEnd(of: job, tenant: tenant, within: .seconds(3600)) }
        try await Task.sleep(for: .milliseconds(20))
        events.publish(event(stage(1)))
        events.publish(event(.finished(.delivered)))
        #expect(await waiting.value)
        #expect(await events.waitForEnd(of: job, tenant: tenant, within: patience))
        let cancelled = Task { await events.waitForEnd(of: JobID(rawValue: "x"), tenant: tenant, within: patience) }
        cancelled.cancel()
        #expect(await !cancelled.value)
    }

    @Test func `a job that was deleted leaves nothing to who follows the next under its id`() async throws {
        let events = JobEvents()
        events.publish(event(.finished(.failed)))
        events.forget(job, of: tenant)
        #expect(await !events.waitForEnd(of: job, tenant: tenant, within: .milliseconds(10)))
        // Deleted by another process, which nobody told here.
        events.publish(event(.finished(.failed)))
        events.publish(event(.started(attempt: 1)))
        events.publish(event(.finished(.delivered)))
        let heard = await all(events.follow(job, of: tenant)).map(\.event.what)
        #expect(heard == [.started(attempt: 1), .finished(.delivered)])
        #expect(await events.waitForEnd(of: job, tenant: tenant, within: patience))
        #expect(await !events.waitForEnd(of: job, generation: 2, tenant: tenant, within: .milliseconds(10)))
    }

    @Test func `of jobs that have ended the latest are known, and what they take is bounded`() async throws {
        let events = JobEvents()
        for number in 0..<5000 {
            events.publish(event(.accepted, job: "\(number)"))
            events.publish(event(.finished(.delivered), job: "\(number)"))
        }
        #expect(events.count >= JobEvents.maximumEndedJobs && events.count < JobEvents.maximumEndedJobs + 1024)
        var iterator = events.follow(JobID(rawValue: "4999"), of: tenant).makeAsyncIterator()
        #expect(await iterator.next()?.event.what == .accepted)
    }

    @Test func `10,000 jobs with followers that leave take bounded memory`() async throws {
        let events = JobEvents(memory: .zero)
        for number in 0..<10_000 {
            let stream = events.follow(JobID(rawValue: "\(number)"), of: tenant)
            events.publish(event(.accepted, job: "\(number)"))
            if number % 100 == 0 {
                var iterator = stream.makeAsyncIterator()
                #expect(await iterator.next()?.event.what == .accepted)
            }
        }
        #expect(events.count >= 10_000)
        for number in 0..<10_000 { events.publish(event(.finished(.delivered), job: "\(number)")) }
        // What ended is forgotten in passing.
        try await Task.sleep(for: .milliseconds(10))
        for _ in 0..<1024 { events.publish(event(stage(0))) }
        #expect(events.count <= 1024)
        // A follower of nothing leaves nothing.
        let count = events.count
        _ = events.follow(JobID(rawValue: "nothing"), of: tenant)
        #expect(events.count == count)
        // Jobs whose end is never told here, and one that never ends its story.
        for number in 0..<25_000 { events.publish(event(.accepted, job: "p\(number)")) }
        #expect(events.count <= 20_000)
        for number in 0..<1000 { events.publish(event(stage(number), job: "long")) }
        events.publish(event(.finished(.delivered), job: "long"))
        #expect(await all(events.follow(JobID(rawValue: "long"), of: tenant)).count == 256)
    }
}
