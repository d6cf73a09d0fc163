import API
import CodecPool
import Ingest
import SatchelCore
import Stores
import TestSupport
import Testing

@testable import satchel

@Suite struct HealthCheckTests {
    @Test(arguments: [(-600, "600 s ahead of"), (-4, nil), (600, "600 s behind")])
    func `a machine whose clock differs from the store's is named, and goes on`(
        difference: Int, words: String?
    ) async throws {
        let store = try Store(in: StoreMemory()) { .wallClock() + .seconds(difference) }
        let codecs = CodecPool(CodecPoolConfiguration(executable: try Repository.product("satchel-codec")))
        let checks = HealthChecks.all(
            of: store, spool: try Spool(at: store.scratch), codecs: codecs,
            ServiceSettings(publicURL: "https://media.example.com"))
        let check = try #require(checks.first { $0.name == "clock" })
        #expect(!check.isRequired && check.advice != nil)
        let problem = await check.problem()
        #expect(problem == words.map { "this machine's clock is \($0) the store's" })
    }
}
