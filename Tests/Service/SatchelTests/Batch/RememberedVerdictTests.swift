import Foundation
import TestSupport
import Testing

@Suite struct RememberedVerdictTests {
    /// A fault of the codec, and whether the next run tries its file again.
    @Test(
        .inCheck("codecs starve until they are stopped"),
        arguments: [("segv", true), ("starve", true), ("kill", true), ("refuse", false)])
    func `only verdicts about bytes are remembered`(fault: String, isTriedAgain: Bool) throws {
        let user = try CommandLineUser()
        try user.file("in/a.jpg", Data("fault: \(fault)".utf8))
        var satchel = user.satchel
        satchel.environment["SATCHEL_CODEC"] = try Repository.product("fault-codec").path(percentEncoded: false)
        func state() throws -> String? {
            let output = try satchel.run(["batch", "in", "--format", "jsonl"]).output
            return (try JSONSerialization.jsonObject(with: output) as? [String: Any])?["state"] as? String
        }
        #expect(try state() == "failed")
        let dry = try satchel.run(["batch", "in", "--dry-run"])
        #expect(dry.errorText.contains(isTriedAgain ? "1 file (" : "0 files ("), "\(dry.errorText)")
        #expect(try state() == (isTriedAgain ? "failed" : "unchanged"))
    }
}
