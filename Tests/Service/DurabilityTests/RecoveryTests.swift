import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

/// What the next service makes of what a power cut or a kill left of the one before (`RecordedService`).
///
/// At some of the moments at which something was said, others every day, the real program is started on the files that are
/// left, several of them side by side. A phone goes on with its upload, and what was to fire fires.
@Suite(.timeLimit(.minutes(5))) struct RecoveryTests {
    private static let places = 6

    @Test func `the next service goes on with uploads and firings, and nothing is lost or made twice`() async throws {
        let recorded = try await RecordedService.shared.value
        let scenario = recorded.scenario
        let first = try #require(scenario.guarantees.map(\.calls.lowerBound).min())
        let said = scenario.guarantees.map(\.calls.lowerBound).filter { $0 > first }
        let moments = Set(said).sorted()
        let day = Int(Date().timeIntervalSince1970 / 86_400)
        let stride = max(1, moments.count / Self.places)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, place) in Swift.stride(from: day % stride, to: moments.count, by: stride).enumerated() {
                let (call, luck) = (moments[place], number % 2 == 0 ? CachedDisk.Luck.all : .none)
                group.addTask { try await Self.recover(recorded, after: call, luck) }
            }
            try await group.waitForAll()
        }
    }

    private static func recover(
        _ recorded: RecordedService, after call: Int, _ luck: CachedDisk.Luck
    ) async throws {
        let scenario = recorded.scenario
        let place = "after call \(call), \(luck)"
        let guaranteed = scenario.guaranteed(after: call)
        let machine = try Machine(holding: scenario.disk(after: call).afterPowerCut(luck))
        var made: [FiringID: FiringRecord] = [:]
        var calls: [FiringID: CallContent] = [:]
        do {
            let records = try machine.open().records
            for firing in try await records.firings(of: .local, after: 0, limit: 100) {
                made[firing.id] = firing
                calls[firing.id] = try await records.call(firing.id.rawValue, of: .local)?.content
            }
        }
        let service = try await machine.serve(RecordedService.options, key: recorded.key)
        let told = guaranteed.compactMap { content -> Int? in
            switch content {
            case .holds(recorded.upload.id, let bytes), .whole(recorded.upload.id, let bytes): bytes.count
            default: nil
            }
        }
        if let told = told.max() {
            let offset = try await RecordedService.resume(recorded.upload, service)
            #expect(offset >= told, "\(place): an offset was taken back")
            let record = try await service.get("/v1/uploads/\(recorded.upload.id.rawValue)").json
            let job = try await service.finished(try #require(record["job"] as? String))
            #expect(job["state"] as? String == "delivered", "\(place): \(job)")
        }
        for (id, generation) in RecordedService.firing
        where guaranteed.contains(.notifies(id, generation: generation)) {
            // Its handover may wait: a call that was under way is left alone for a minute.
            _ = try await whenFound("the firing of \(id.rawValue) \(place)") {
                let list = try await service.get("/v1/notifications/\(id.rawValue)/firings").json
                let fired = try #require(list["firings"] as? [[String: Any]])
                return fired.contains { $0["generation"] as? Int == generation && $0["payload"] is [String: Any] }
                    ? true : nil
            }
        }
        #expect(try await service.stop().status == 0)
        let store = try machine.open(exclusively: true)
        let wrong = try await store.records.contradictions(to: made)
        #expect(wrong.isEmpty, "\(place): \(wrong)")
        for (id, generation) in RecordedService.firing
        where guaranteed.contains(.notifies(id, generation: generation)) {
            let fired = try await store.records.firings(of: id, tenant: .local, after: nil, limit: 10).elements
            #expect(fired.filter { $0.generation == generation }.count == 1, "\(place): \(id.rawValue) fired \(fired)")
        }
        // Whatever is handed over again is the same message.
        for (id, content) in calls {
            let call = try await store.records.call(id.rawValue, of: .local)
            #expect(call?.content == content, "\(place): another call for \(made[id]?.notification.rawValue ?? "")")
        }
        let after = guaranteed.filter {
            switch $0 {
            case .fired, .lists, .answered, .silent, .whole: true
            default: false
            }
        }
        let left = try await scenario.invariants.broken(after, in: store)
        #expect(left.isEmpty, "\(place): \(left)")
        _ = try await store.sweep()
        let report = try await store.verify()
        #expect(report.isSound && report.orphaned.isEmpty, "\(place): \(report)")
    }
}
