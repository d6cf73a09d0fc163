import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MemoryServiceTests {
    @Test func `a service with a store in memory does everything but remember`() async throws {
        let harness = try ServiceHarness()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let arguments = ["--store", "memory:", "--fetch-allow", "127.0.0.1"]
        let server = try await harness.serve(arguments[0], arguments[1], arguments[2], arguments[3])
        #expect(try await server.submit("job", origin.url("/a.jpg")).status == 202)
        let job = try await server.finished("job")
        #expect(job["state"] as? String == "delivered", "\(job)")
        #expect(try await server.stop().status == 0)
        #expect(!FileManager.default.fileExists(atPath: harness.store))
        let next = try await harness.serve(arguments[0], arguments[1], arguments[2], arguments[3])
        #expect(try await next.get("/v1/jobs/job").status == 404)
        #expect(try await next.stop().status == 0)
    }
}
