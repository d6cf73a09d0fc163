import Attachments
import Ingest
import Jobs
import Platform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct HandlerCallsTests {
    private static let ada = TenantID(rawValue: "ada")

    private static func calls() -> HandlerCalls {
        HandlerCalls(client: HandlerClient(guardedBy: FetchGuard(), userAgent: "Satchel/test")) { _ in [] }
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

    @Test func `one that fails again and again isn't asked, of that tenant and under that URL alone`() async {
        let calls = Self.calls()
        let handler = ResponseHandler(url: "https://a.example/")
        for _ in 0..<5 {
            let answer = await Self.ask(calls, handler) { () throws(HandlerFailure) in throw HandlerFailure("no") }
            #expect(answer == .failure(HandlerFailure("no")))
        }
        let answer = await Self.ask(calls, handler) { "asked" }
        #expect(answer == .failure(HandlerFailure("it failed 5 times in a row and is left alone for a while")))
        #expect(await Self.ask(calls, ResponseHandler(url: "https://b.example/")) { "asked" } == .success("asked"))
        #expect(
            await Self.ask(calls, handler, of: TenantID(rawValue: "bob")) { "asked" } == .success("asked"))
    }

    @Test func `a tenant has thirty-two at once; the next one waits as long as its handler has`() async throws {
        let calls = Self.calls()
        let begun = Recorder<Int>()
        let may = Promise<Void>()
        let held = (0..<HandlerCalls.width).map { number in
            Task {
                await Self.ask(calls, ResponseHandler(url: "https://\(number).example/", timeout: 5)) {
                    begun.add(number)
                    _ = try? await may.value
                    return "late"
                }
            }
        }
        try await eventually("all are asked") { begun.list.count == HandlerCalls.width }
        let next = await Self.ask(calls, ResponseHandler(url: "https://x.example/", timeout: 0.1)) { "asked" }
        #expect(next == .failure(HandlerFailure("32 of the tenant's handlers were asked at the same time")))
        let others = await Self.ask(
            calls, ResponseHandler(url: "https://x.example/"), of: TenantID(rawValue: "bob")
        ) { "asked" }
        #expect(others == .success("asked"))
        may.make(.success(()))
        for task in held { #expect(await task.value == .success("late")) }
        #expect(await Self.ask(calls, ResponseHandler(url: "https://x.example/")) { "asked" } == .success("asked"))
    }
}
