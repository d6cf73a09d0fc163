import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct StopTests {
    @Test func `an idle service ends at once`() async throws {
        let harness = try ServiceHarness()
        // It is waited for less long than the service would wait for work.
        let server = try await harness.serve("--grace", "600")
        let result = try await server.stop()
        #expect(result.status == 0)
        #expect(result.outputText.contains("\"stopped\""))
    }

    @Test func `told to end it finishes what is underway, is not ready meanwhile, and takes nothing new`() async throws
    {
        let harness = try ServiceHarness()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let server = try await harness.serve("--fetch-allow", "127.0.0.1", "--grace", "20")
        #expect(try await server.submit("slow", origin.url("/slow/3/a.jpg")).status == 202)
        try await eventually("the job is underway") { !origin.requests.isEmpty }
        server.signal(SIGTERM)
        try await eventually("it is not ready") { try await server.get("/readyz").status == 503 }
        let readiness = try await server.get("/readyz").text
        #expect(readiness.contains("\"draining\""))
        #expect(try await server.get("/livez").status == 200)
        let refused = try await server.submit("late", origin.url("/late.jpg"))
        #expect(refused.status == 503 && refused["Retry-After"] != nil, "\(refused.text)")
        // Who looked for the job still can.
        #expect(try await server.get("/v1/jobs/slow").status == 200)
        let result = try await server.program.end()
        #expect(result.status == 0)
        let next = try await harness.serve()
        let job = try await next.finished("slow")
        #expect(job["state"] as? String == "delivered")
        #expect(origin.requests.count == 1, "it was done twice")
        #expect(try await next.get("/v1/jobs/late").status == 404)
    }

    @Test func `what takes longer than the grace is handed back, and the next one does it`() async throws {
        let harness = try ServiceHarness()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let server = try await harness.serve("--fetch-allow", "127.0.0.1", "--grace", "1.5")
        #expect(try await server.submit("slow", origin.url("/slow/8/a.jpg")).status == 202)
        try await eventually("the job is underway") { !origin.requests.isEmpty }
        #expect(try await server.stop().status == 0)
        #expect(try await harness.run("show", "slow", "--tenant", "default").outputText.contains("\"pending\""))
        let next = try await harness.serve("--fetch-allow", "127.0.0.1")
        #expect(try await next.finished("slow")["state"] as? String == "delivered")
    }

    @Test func `a second signal ends it at once`() async throws {
        let harness = try ServiceHarness()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let server = try await harness.serve("--fetch-allow", "127.0.0.1", "--grace", "60")
        #expect(try await server.submit("slow", origin.url("/slow/8/a.jpg")).status == 202)
        try await eventually("the job is underway") { !origin.requests.isEmpty }
        server.signal(SIGINT)
        try await eventually("it stops") { try server.program.outputSoFar.contains("\"stopping\"") }
        #expect(try await server.stop(SIGINT).status == 130)
    }
}
