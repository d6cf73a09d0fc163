import Platform
import Synchronization
import Testing

/// What a place among many is worth.
@Suite(.timeLimit(.minutes(10))) struct AsyncSemaphoreTests {
    private final class Order: Sendable {
        let isPatient = Mutex<[Bool]>([])
        let parties = Mutex<[String]>([])
    }

    @Test func `prompt demands go before patient ones, but not for ever`() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        #expect(await semaphore.acquire(1, until: nil) == .granted)
        let order = Order()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                let isPatient = index < 20
                group.addTask {
                    guard await semaphore.acquire(1, until: nil, patiently: isPatient) == .granted else { return }
                    order.isPatient.withLock { $0.append(isPatient) }
                    semaphore.release(1)
                }
            }
            // All of them wait by then.
            try? await Task.sleep(for: .milliseconds(300))
            semaphore.release(1)
        }
        let patient = order.isPatient.withLock { $0 }
        #expect(patient.count == 40)
        #expect(patient.prefix(8).allSatisfy { !$0 })
        #expect(patient.indices.filter { patient[$0] }.prefix(3) == [8, 17, 22])
    }

    @Test func `parties take turns, however many demands one of them has`() async {
        let semaphore = AsyncSemaphore(capacity: 1)
        #expect(await semaphore.acquire(1, until: nil) == .granted)
        let order = Order()
        await withTaskGroup(of: Void.self) { group in
            for (index, party) in (Array(repeating: "bob", count: 50) + ["ada", "ada"]).enumerated() {
                group.addTask {
                    guard await semaphore.acquire(1, until: nil, for: party) == .granted else { return }
                    order.parties.withLock { $0.append(party) }
                    semaphore.release(1)
                }
                while semaphore.waiting(patiently: false) <= index { await Task.yield() }
            }
            semaphore.release(1)
        }
        let last = order.parties.withLock { $0.lastIndex(of: "ada") }
        #expect(last.map { $0 <= 4 } == true)
    }

    @Test func `what is kept stays free of sparing demands, which hold up nobody else`() async {
        let semaphore = AsyncSemaphore(capacity: 4, kept: 1)
        for _ in 0..<3 { #expect(await semaphore.acquire(1, until: nil, sparing: true) == .granted) }
        #expect(await semaphore.acquire(1, until: .now + .milliseconds(20), sparing: true) == .late)
        let waiting = Task { await semaphore.acquire(1, until: .now + .seconds(30), sparing: true) }
        while semaphore.waiting(patiently: true) < 1 { await Task.yield() }
        // Past the precedence, too.
        for _ in 0..<20 {
            #expect(await semaphore.acquire(1, until: .now + .seconds(30)) == .granted)
            semaphore.release(1)
        }
        #expect(semaphore.waiting(patiently: true) == 1)
        semaphore.release(1, sparing: true)
        #expect(await waiting.value == .granted)
    }

    @Test func `a demand that is late or cancelled leaves the rest as it was`() async throws {
        let semaphore = AsyncSemaphore(capacity: 2)
        #expect(await semaphore.acquire(2, until: nil) == .granted)
        #expect(await semaphore.acquire(1, until: .now + .milliseconds(20), patiently: true) == .late)
        let waiting = Task { await semaphore.acquire(1, until: nil) }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        semaphore.release(2)
        #expect(await semaphore.acquire(2, until: .now + .seconds(5)) == .granted)
    }
}
