import Attachments
import FoundationEssentials
import Glibc
import Intake
import Testing

@Suite struct FaultTests {
    @Test func `an honest codec's renditions arrive, smallest first, and its process ends`() async throws {
        let scratch = try Scratch()
        try await withPool(.faulty()) { pool, _ in
            let outcome = try await pool.run("fault: null", in: scratch)
            #expect(outcome.error == nil)
            #expect(outcome.reports.map(\.role) == [.thumbnail, .main])
            let result = try #require(outcome.result)
            #expect(result.processIsDead)
            #expect(result.findings.note == "null")
            #expect(result.ending?.warnings == ["a warning with [31mcolour"])
            #expect(try #require(result.cpuSeconds) < 1)
            #expect(try #require(result.peakMemory) > 1 << 20)
            for report in outcome.reports {
                let path = scratch.path(of: "output-\(report.role.rawValue)")
                let text = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)
                #expect(text.hasPrefix(report.role.rawValue))
            }
        }
    }
}
