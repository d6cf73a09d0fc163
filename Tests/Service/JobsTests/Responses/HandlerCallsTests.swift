import SatchelCore
import Ingest
import Jobs
import Platform
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct HandlerCallsTests {
    private static let ada = TenantID(rawValue: "ada")

    private static func calls(nodes: @escaping @Sendable () -> Int = { 1 }) -> HandlerCalls {
        HandlerCalls(
            client: HandlerClient(
                clock: { .wallClock() }, guardedBy: FetchGuard(), userAgent: "Satchel/test"), nodes: nodes
        ) { _ in [] }
    }

    private static func ask(
        _ calls: HandlerCalls, _ handler: ResponseHandler, of tenant: TenantID = ada,
        _ body: () async throws(HandlerFailure) -> String
    ) async -> Result<String, HandlerFailure> {
        do throws(HandlerFailure) {
            return .success(
                try await calls.answer(of: handler, tenant: tenant) { _, _, _ throws(HandlerFailure) in
                    try await body()
                })
        } catch {
            return .failure(error)
        }
    }

    /// So many calls that are underway, each of another handler.
    private static func held(
        _ calls: HandlerCalls, _ count: Int, until may: Promise<Void>
    ) async throws -> [Task<Result<String, HandlerFailure>, Never>] {
        let begun = Recorder<Int>()
        let held = (0..<count).map { number in
            Task {
                await ask(calls, ResponseHandler(url: "https://\(number).example/", timeout: 5)) {
                    begun.add(number)
                    _ = try? await may.value
                    return "late"
                }
            }
        }
        try await eventually("all are asked") { begun.list.count == count }
        return held
    }

    @Test func `one that fails again and again isn't asked, of that tenant and under that URL alone`() async {
        let calls = Self.calls()
        let handler = ResponseHandler(url: "https://a.example/")
        for _ in 0..<5 {
            let answer = await Self.ask(calls, handler) { () throws(HandlerFailure) in throw HandlerFailure("no") }
            #expect(answer == .failure(HandlerFailure("no")))
        }
        let answer = await Self.ask(calls, handler) { "asked" }
        #expect(answer == .failure(HandlerFailure("the handler failed 5 times in a row, so calls to it are paused")))
        #expect(await Self.ask(calls, ResponseHandler(url: "https://b.example/")) { "asked" } == .success("asked"))
        #expect(
            await Self.ask(calls, handler, of: TenantID(rawValue: "bob")) { "asked" } == .success("asked"))
    }

    @Test func `a tenant has thirty-two at once; the next one waits as long as its handler has`() async throws {
        let calls = Self.calls()
        let may = Promise<Void>()
        let held = try await Self.held(calls, HandlerCalls.width, until: may)
        let next = await Self.ask(calls, ResponseHandler(url: "https://x.example/", timeout: 0.1)) { "asked" }
        #expect(next == .failure(HandlerFailure("too many calls to the tenant's handlers at the same time (limit 32)")))
        let others = await Self.ask(
            calls, ResponseHandler(url: "https://x.example/"), of: TenantID(rawValue: "bob")
        ) { "asked" }
        #expect(others == .success("asked"))
        may.make(.success(()))
        for task in held { #expect(await task.value == .success("late")) }
        #expect(await Self.ask(calls, ResponseHandler(url: "https://x.example/")) { "asked" } == .success("asked"))
    }

    @Test func `a node has its share of a tenant's, from when it knows of others`() async throws {
        let nodes = Mutex(2)
        let calls = Self.calls { nodes.withLock(\.self) }
        let may = Promise<Void>()
        let handler = ResponseHandler(url: "https://x.example/", timeout: 0.1)
        let first = try await Self.held(calls, 16, until: may)
        #expect(
            await Self.ask(calls, handler) { "asked" }
                == .failure(HandlerFailure("too many calls to the tenant's handlers at the same time (limit 16)")))
        nodes.withLock { $0 = 8 }
        let second = try await Self.held(calls, 4, until: may)
        #expect(
            await Self.ask(calls, handler) { "asked" }
                == .failure(HandlerFailure("too many calls to the tenant's handlers at the same time (limit 4)")))
        may.make(.success(()))
        for task in first + second { #expect(await task.value == .success("late")) }
    }
}
