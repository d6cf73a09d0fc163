import SatchelCore
import Foundation
import Platform
import TestSupport
import Testing

@testable import Stores

/// Requests that a node took up before it was paused, and whose clients tried elsewhere since.
@Suite struct StaleRequestTests {
    private static let id = NotificationID(rawValue: "new")

    /// Something that a request changes.
    struct Operation: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var perform: @Sendable (RecordStore) async throws -> Void

        init(_ name: String, _ perform: @escaping @Sendable (RecordStore) async throws -> Void) {
            testDescription = name
            self.perform = perform
        }
    }

    static let operations = [
        Operation("a job") { _ = try await $0.submit(.sample(digest: "new"), SubmissionOptions(queueLimit: 100)) },
        Operation("two jobs") {
            _ = try await $0.submit([.sample(digest: "1"), .sample(digest: "2")], SubmissionOptions(queueLimit: 100))
        },
        Operation("a notification") { try await $0.putNotification(id.rawValue) },
        Operation("the end of a notification") {
            _ = try await $0.remove(NotificationID(rawValue: "a"), of: .local, from: .all)
        },
        Operation("a category") { _ = try await $0.putCategory(Category(id: "new"), of: .local) },
        Operation("a key") {
            _ = try await $0.createKey(named: "new", for: .local, roles: [.read], lasting: nil)
        },
    ]

    @Test(arguments: Backend.allCases, operations)
    func `what comes more than 10 s after its request was read changes nothing, and else it does`(
        backend: Backend, operation: Operation
    ) async throws {
        let fixture = try Fixture(backend)
        try await fixture.records.putNotification("a")
        let before = try await fixture.counts()
        let readAt = fixture.clock.now
        fixture.clock.advance(.milliseconds(10_001))
        let stale = try await RequestReading { readAt }
        let error = await #expect(throws: AttachmentError.self) {
            try await RequestReading.$current.withValue(stale) { try await operation.perform(fixture.records) }
        }
        #expect(error?.code == .storeFailed && error?.message.contains("too late") == true)
        #expect(try await fixture.counts() == before)
        let fresh = try await RequestReading { [clock = fixture.clock] in clock.now - .seconds(10) }
        try await RequestReading.$current.withValue(fresh) { try await operation.perform(fixture.records) }
        #expect(try await fixture.counts() != before)
        try await fixture.records.expectTrueCounts()
    }

    @Test func `a request has its own deadline, more time after a wait, and none of it once its client is gone`()
        async throws
    {
        let fixture = try Fixture()
        let clock = fixture.clock
        let readAt = clock.now
        let reading = try await RequestReading { readAt }
        reading.end(within: .seconds(3))
        let records = fixture.records
        @Sendable func put(_ id: String) async throws {
            try await RequestReading.$current.withValue(reading) { try await records.putNotification(id) }
        }
        clock.advance(.seconds(3))
        try await put("in time")
        clock.advance(.milliseconds(1))
        await #expect(throws: AttachmentError.self) { try await put("late") }
        clock.advance(.seconds(60))
        reading.waited(until: clock.now)
        try await put("waited")
        let gone = Task {
            try? await Task.sleep(for: .seconds(600))
            try await put("gone")
        }
        gone.cancel()
        await #expect(throws: AttachmentError.self) { try await gone.value }
        let page = try await fixture.records.notifications(
            of: .local, in: .pending, category: nil, after: nil, limit: 9)
        #expect(Set(page.elements.map(\.id.rawValue)) == ["in time", "waited"])
    }

    @Test(arguments: Backend.allCases)
    func `whether a trigger has passed is decided by the time of the transaction`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let at = fixture.clock.now + .seconds(5)
        let written = try #require(WrittenTime(at.description))
        func put(_ id: NotificationID) async throws -> Result<NotificationAnswer, TriggerError> {
            try await fixture.records.put(
                NewNotification(
                    id: id, tenant: .local, bodyDigest: "1",
                    submission: NotificationSubmission(
                        payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil,
                        onFailure: .drop, deadline: 10, media: [], trigger: .date(at: written, timeZone: nil),
                        lateLimit: 3600, handover: nil, metadata: [:], category: nil, traceparent: nil),
                    job: nil, attachments: [], next: .at(at), rules: nil, acceptedAt: at - .seconds(5)), limit: nil)
        }
        let first = try await put(Self.id)
        fixture.clock.advance(.seconds(5))
        #expect(try await put(NotificationID(rawValue: "late")) == .failure(.passed(at: at)))
        #expect(try await fixture.records.notification(NotificationID(rawValue: "late"), of: .local) == nil)
        // It was taken before.
        #expect(try await put(Self.id) == .success(.unchanged(first.get().record)))
    }
}

extension Fixture {
    /// How much there is of all that the operations change.
    fileprivate func counts() async throws -> [Int] {
        let pending = try await records.notifications(of: .local, in: .pending, category: nil, after: nil, limit: 9)
        return [
            try await records.jobs(of: .local, where: RecordFilter(), after: nil, limit: 9).elements.count,
            pending.elements.count, try await records.categories(of: .local).count,
            try await records.keys(of: .local).count,
        ]
    }
}
