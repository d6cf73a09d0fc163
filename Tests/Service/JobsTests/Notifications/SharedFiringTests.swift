import SatchelCore
import Foundation
import Platform
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@testable import Jobs
@testable import Stores

/// Notifications that several nodes of a database fire.
@Suite(.timeLimit(.minutes(5))) struct SharedFiringTests {
    /// Notes of which notifications it made payloads.
    private struct Renderer: FiringRenderer {
        let made = Recorder<NotificationID>()

        func draft(
            of firing: Firing, from materials: FiringMaterials, at instant: Instant
        ) throws(AttachmentError) -> String {
            made.add(firing.notification.id)
            return "{}"
        }

        func completion(of firing: Firing, as draft: String, at now: Instant) -> FiringCompletion {
            FiringCompletion(
                firing.record, at: now,
                .finished(
                    FiringCompletion.Finished(
                        payload: TokenTemplate(Data(draft.utf8), hiding: []), links: [], media: [], dropped: [],
                        call: nil)))
        }

        func missedCall(
            _ notification: NotificationRecord, _ id: FiringID, _ occurrence: Occurrence, _ now: Instant
        ) -> OutgoingCall? { nil }

        func mediaFailedCall(
            _ notification: NotificationRecord, _ failures: [MediaFailure], _ now: Instant
        ) -> OutgoingCall? { nil }
    }

    private struct Node {
        let store: Store
        let service: NotificationService
        let renderer = Renderer()

        init(
            _ parameters: PostgresParameters, _ memory: StoreMemory, _ timing: PostgresNode.Timing,
            beside bench: JobBench
        )
            throws
        {
            store = try Store(bytesIn: memory) { keys, garbage in
                RecordStore(PostgresPool(parameters), keys: keys, garbage: garbage, timing: timing)
            }
            service = NotificationService(
                records: store.records, jobs: try bench.jobs(in: store), zones: TimeZoneDatabase())
        }

        var others: Int { (store.records.engine.cluster?.members.census.firing.count ?? 0) - 1 }

        func work() -> Task<Void, Never> { Task { await service.run(by: renderer) } }
    }

    /// Nodes of a database, each of which knows the others.
    private static func nodes(
        _ count: Int, leftFor patience: Duration, beside bench: JobBench
    ) async throws -> [Node] {
        let server = try PostgresServer.shared()
        let parameters = try PostgresParameters(server.url(try server.makeDatabase()), application: "tests")
        try await PostgresSchema.migrate(parameters)
        var timing = PostgresNode.Timing(
            heartbeat: .milliseconds(50), deadAfter: .seconds(300), steadiness: .zero, rescue: .zero)
        timing.firing = patience
        let memory = try StoreMemory()
        var nodes: [Node] = []
        for _ in 0..<count { nodes.append(try Node(parameters, memory, timing, beside: bench)) }
        for node in nodes { await node.store.records.join(as: .worker) }
        try await eventually("all know each other") { nodes.allSatisfy { $0.others == count - 1 } }
        return nodes
    }

    private static func put(_ id: NotificationID, at instant: Instant, in store: Store) async throws {
        _ = try await store.records.put(
            NewNotification(
                id: id, tenant: JobBench.tenant, bodyDigest: "1",
                submission: NotificationSubmission(
                    payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil,
                    onFailure: .drop, deadline: 10, media: [], trigger: nil, lateLimit: 3600, handover: nil,
                    metadata: [:], category: nil, traceparent: nil),
                job: nil, attachments: [],
                next: Occurrence(at: instant, local: nil, note: nil, position: .instant(instant)), rules: nil,
                acceptedAt: try await store.records.now()), limit: nil)
    }

    private static func fired(in store: Store) async throws -> [FiringRecord] {
        try await store.records.firings(of: JobBench.tenant, after: 0, limit: 1000)
    }

    @Test(arguments: [2, 3]) func `each of many that are due is made by one node, and fires once`(count: Int)
        async throws
    {
        try await JobBench.run(codecs: 1, in: StoreMemory()) { bench in
            // However busy the machine is, none counts as left.
            let nodes = try await Self.nodes(count, leftFor: .seconds(300), beside: bench)
            let store = nodes[0].store
            // Some ahead of their instant, others when it has come.
            let instant = try await store.records.now() + NotificationService.ahead
            let ids = (0..<NotificationService.group * 4).map { NotificationID(rawValue: "\($0)") }
            for id in ids { try await Self.put(id, at: instant, in: store) }
            let working = nodes.map { $0.work() }
            try await eventually("all have fired") { try await Self.fired(in: store).count == ids.count }
            for task in working {
                task.cancel()
                await task.value
            }
            let list = try await Self.fired(in: store)
            #expect(Set(list.map(\.notification)) == Set(ids) && list.allSatisfy { $0.number == 1 })
            let shares = nodes.map(\.renderer.made.list)
            #expect(shares.allSatisfy { !$0.isEmpty } && shares.joined().count == ids.count, "one was made twice")
        }
    }

    @Test func `what a node leaves that stops in the middle fires elsewhere, each instant once`() async throws {
        try await JobBench.run(codecs: 1, in: StoreMemory()) { bench in
            let nodes = try await Self.nodes(3, leftFor: .milliseconds(200), beside: bench)
            let store = nodes[0].store
            let start = try await store.records.now() + .seconds(1)
            let ids = (0..<90).map { NotificationID(rawValue: "\($0)") }
            for (number, id) in ids.enumerated() {
                try await Self.put(id, at: start + .milliseconds(number * 30), in: store)
            }
            let working = nodes.map { $0.work() }
            // It has made some, and its heart goes on: the others have to find out by what it leaves.
            try await eventually("it works") { !nodes[1].renderer.made.list.isEmpty }
            working[1].cancel()
            await working[1].value
            try await eventually("all have fired") { try await Self.fired(in: store).count == ids.count }
            for task in working {
                task.cancel()
                await task.value
            }
            let list = try await Self.fired(in: store)
            #expect(Set(list.map(\.notification)) == Set(ids) && list.allSatisfy { $0.number == 1 })
        }
    }

    @Test func `who comes while others work takes its share, and each instant fires once`() async throws {
        try await JobBench.run(codecs: 1, in: StoreMemory()) { bench in
            let nodes = try await Self.nodes(2, leftFor: .milliseconds(200), beside: bench)
            let store = nodes[0].store
            await nodes[1].store.records.retire()
            try await eventually("one is left") { nodes[0].others == 0 }
            let start = try await store.records.now() + .seconds(1)
            let ids = (0..<90).map { NotificationID(rawValue: "\($0)") }
            for (number, id) in ids.enumerated() {
                try await Self.put(id, at: start + .milliseconds(number * 30), in: store)
            }
            let first = nodes[0].work()
            try await eventually("it works") { try await !Self.fired(in: store).isEmpty }
            let parameters = try #require(store.records.engine.cluster).pool.parameters
            let new = try Node(
                parameters, StoreMemory(),
                try #require(store.records.engine.cluster).members.timing,
                beside: bench)
            await new.store.records.join(as: .all)
            let second = new.work()
            try await eventually("all have fired") { try await Self.fired(in: store).count == ids.count }
            for task in [first, second] {
                task.cancel()
                await task.value
            }
            let list = try await Self.fired(in: store)
            #expect(Set(list.map(\.notification)) == Set(ids) && list.allSatisfy { $0.number == 1 })
        }
    }
}
