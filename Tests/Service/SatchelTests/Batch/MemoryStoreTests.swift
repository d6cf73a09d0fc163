import SatchelCore
import Foundation
import TestSupport
import Testing

@Suite struct MemoryStoreTests {
    @Test func `a batch with a store in memory leaves its output and nothing else`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "photos/a.jpg")
        let temporary = user.home.url.appending(path: "tmp")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        let out = user.home.url.appending(path: "out").path(percentEncoded: false)
        let satchel = Program(
            user.satchel.executable,
            environment: user.satchel.environment.merging(
                ["TMPDIR": temporary.path(percentEncoded: false)], uniquingKeysWith: { $1 }),
            in: user.home.url)
        let arguments = ["batch", "--store", "memory:", "--output", out, "photos"]
        for _ in 0..<2 {
            let result = try satchel.run(arguments)
            #expect(result.status == 0, "\(result.errorText)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: out).contains { $0.hasPrefix("a") })
        }
        #expect(!FileManager.default.fileExists(atPath: user.store.path(percentEncoded: false)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path(percentEncoded: false)).isEmpty)
        let list = try satchel.run(["list", "--store", "memory:"])
        #expect(list.status == 2 && list.errorText.contains("is discarded when its process exits"))
    }
}
