import SatchelCore
import PostgresTestSupport
import TestSupport
import Testing

@testable import Stores

/// What is due to fire, divided among the nodes of a database.
@Suite struct SharedNotificationTests {
    private let database: RecordDatabase
    private let memory: StoreMemory
    private let clock = TestClock()

    init() throws {
        database = try RecordDatabase()
        memory = try StoreMemory()
    }

    private static let timing = PostgresNode.Timing(heartbeat: .milliseconds(20), deadAfter: .seconds(300))
    private static let count = 120

    /// Nodes that fire, each of which knows the others.
    private func nodes(_ count: Int, _ timing: PostgresNode.Timing = timing) async throws -> [Store] {
        var stores: [Store] = []
        for _ in 0..<count { stores.append(try database.open(bytesIn: memory, clock, timing: timing)) }
        for store in stores { await store.records.join(as: .worker) }
        try await eventually("all know each other", within: .seconds(300)) { stores.allSatisfy { firing($0) == count } }
        return stores
    }

    private func firing(_ store: Store) -> Int {
        store.records.engine.cluster?.members.census.firing.count ?? 0
    }

    private func put(_ numbers: Range<Int>, at instant: Instant, in store: Store) async throws {
        for number in numbers {
            let answer = try await store.records.put(
                NewNotification(
                    id: NotificationID(rawValue: "\(number)"), tenant: .local, bodyDigest: "1",
                    submission: NotificationSubmission(
                        payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil,
                        onFailure: .drop, deadline: 10, media: [], trigger: nil, lateLimit: 3600, handover: nil,
                        metadata: [:], category: nil, traceparent: nil),
                    job: nil, attachments: [],
                    next: Occurrence(at: instant, local: nil, note: nil, position: .instant(instant)), rules: nil,
                    acceptedAt: clock.now), limit: nil
            ).get()
            guard case .created = answer else { throw Unexpected() }
        }
    }

    private func due(_ store: Store, limit: Int = 1000) async throws -> Set<String> {
        Set(try await store.records.dueNotifications(limit: limit).elements.map(\.id.rawValue))
    }

    /// All of its share, by parts.
    private func upcoming(_ store: Store, limit: Int = 7) async throws -> Set<String> {
        var (found, cursor): (Set<String>, String?) = ([], nil)
        while true {
            let page = try await store.records.upcomingNotifications(within: .seconds(60), after: cursor, limit: limit)
            found.formUnion(page.elements.map(\.id.rawValue))
            guard let next = page.next else { return found }
            cursor = next
        }
    }

    private func expectShares(_ shares: [Set<String>]) {
        let all = shares.reduce(into: Set()) { $0.formUnion($1) }
        #expect(all.count == Self.count && shares.map(\.count).reduce(0, +) == Self.count)
        #expect(shares.allSatisfy { !$0.isEmpty })
    }

    @Test(arguments: [2, 3]) func `each notification is one node's, before it is due and when it is`(nodes: Int)
        async throws
    {
        let stores = try await self.nodes(nodes)
        try await put(0..<Self.count, at: clock.now + .seconds(60), in: stores[0])
        var before: [Set<String>] = []
        for store in stores { before.append(try await upcoming(store)) }
        expectShares(before)
        clock.advance(.seconds(60))
        for (store, share) in zip(stores, before) { #expect(try await due(store) == share) }
    }

    @Test func `nodes that don't fire, and commands, have no share`() async throws {
        let stores = try await nodes(2)
        let front = try database.open(bytesIn: memory, clock, timing: Self.timing)
        await front.records.join(as: .api)
        let command = try database.open(bytesIn: memory, clock, timing: Self.timing)
        #expect(try await command.claimNext() == nil)
        try await eventually("all are known", within: .seconds(300)) {
            stores.allSatisfy { $0.records.engine.cluster?.members.census.ids.count == 4 }
        }
        try await put(0..<Self.count, at: clock.now, in: front)
        expectShares([try await due(stores[0]), try await due(stores[1])])
        withExtendedLifetime(front) {}
    }

    @Test func `what a node has left for two seconds another finds, after its own and from the latest on`() async throws
    {
        let stores = try await nodes(2)
        let start = clock.now
        for number in 0..<Self.count {
            try await put(number..<number + 1, at: start + .milliseconds(number), in: stores[0])
        }
        clock.now = start + .milliseconds(1999)
        let (left, own) = (try await due(stores[0]), try await due(stores[1]))
        expectShares([left, own])
        clock.now = start + .milliseconds(2000 + Self.count)
        #expect(try await due(stores[1], limit: own.count) == own)
        let latest = left.compactMap { Int($0) }.sorted().suffix(3).map { "\($0)" }
        #expect(try await due(stores[1], limit: own.count + 3) == own.union(latest))
        let all = try await stores[1].records.dueNotifications(limit: 1000).elements.compactMap { Int($0.id.rawValue) }
        #expect(all == Array(0..<Self.count))
    }

    @Test func `when a node ends the others have its share and keep theirs, and who comes takes some of each`()
        async throws
    {
        var stores = try await nodes(3)
        try await put(0..<Self.count, at: clock.now, in: stores[0])
        var before: [Set<String>] = []
        for store in stores { before.append(try await due(store)) }
        expectShares(before)
        await stores[2].records.retire()
        try await eventually("that is known", within: .seconds(300)) { stores.prefix(2).allSatisfy { firing($0) == 2 } }
        // It takes on nothing new while it ends.
        #expect(try await due(stores[2]).isEmpty)
        let after = [try await due(stores[0]), try await due(stores[1])]
        expectShares(after)
        #expect(after[0].isSuperset(of: before[0]) && after[1].isSuperset(of: before[1]))
        stores[2] = try database.open(bytesIn: memory, clock, timing: Self.timing)
        await stores[2].records.join(as: .all)
        // It knows all others from its first heartbeat on, whenever these know of it.
        let new = try await due(stores[2])
        #expect(!new.isEmpty && new.count < Self.count)
        try await eventually("it is known", within: .seconds(300)) { stores.allSatisfy { firing($0) == 3 } }
        #expect(try await due(stores[0]) == after[0].subtracting(new))
        #expect(try await due(stores[1]) == after[1].subtracting(new))
    }

    @Test func `a silent node's share is the others' when it counts as dead`() async throws {
        let living = try await nodes(1)[0]
        let silent = try database.open(
            bytesIn: memory, clock, timing: PostgresNode.Timing(heartbeat: .seconds(3600), deadAfter: .seconds(300)))
        await silent.records.join(as: .worker)
        try await eventually("it is known", within: .seconds(300)) { firing(living) == 2 }
        try await put(0..<Self.count, at: clock.now, in: living)
        expectShares([try await due(silent), try await due(living)])
        // It says nothing for six minutes.
        let id = silent.records.node.id
        try database.server.execute(
            "UPDATE nodes SET heartbeat_at = heartbeat_at - 360000 WHERE id = '\(id)'", in: database.name)
        try await eventually("its silence", within: .seconds(300)) { firing(living) == 1 }
        #expect(try await due(living).count == Self.count)
    }

    @Test func `whose share has become another looks through it from the start`() async throws {
        let first = try await nodes(1)[0]
        try await put(0..<Self.count, at: clock.now + .seconds(60), in: first)
        let page = try await first.records.upcomingNotifications(within: .seconds(60), after: nil, limit: 100)
        #expect(page.elements.count == 100)
        let second = try database.open(bytesIn: memory, clock, timing: Self.timing)
        await second.records.join(as: .worker)
        try await eventually("it is known", within: .seconds(300)) { firing(first) == 2 }
        let (own, other) = (try await upcoming(first), try await upcoming(second))
        expectShares([own, other])
        let again = try await first.records.upcomingNotifications(within: .seconds(60), after: page.next, limit: 100)
        #expect(Set(again.elements.map(\.id.rawValue)) == own)
        let rest = try await first.records.upcomingNotifications(within: .seconds(60), after: again.next, limit: 100)
        #expect(rest.elements.isEmpty && rest.next == nil)
    }

    @Test func `what is to be done about media is shared like that`() async throws {
        let stores = try await nodes(2)
        try await put(0..<Self.count, at: clock.now + .seconds(60), in: stores[0])
        // As if each waited for its media to be prepared.
        try database.server.execute(
            "UPDATE notifications SET media_at = \(clock.now.milliseconds)", in: database.name)
        func found(_ store: Store) async throws -> Set<String> {
            Set(try await store.records.dueMedia(limit: 1000).map(\.id.rawValue))
        }
        expectShares([try await found(stores[0]), try await found(stores[1])])
        clock.advance(.seconds(2))
        #expect(try await found(stores[0]).count == Self.count)
    }

    @Test func `who put a notification that is due at once wakes those that fire, and with a later one it doesn't`()
        async throws
    {
        let stores = try await nodes(2)
        let heard = Recorder<QueueEvent>()
        stores[1].records.listen { heard.add($0) }
        // As it begins to listen.
        try await eventually("it listens", within: .seconds(300)) { heard.list.contains(.due) }
        try await put(0..<1, at: clock.now + .seconds(60), in: stores[0])
        let before = heard.list.count { $0 == .due }
        try await put(1..<2, at: clock.now, in: stores[0])
        try await eventually("it hears", within: .seconds(300)) { heard.list.count { $0 == .due } == before + 1 }
    }
}
