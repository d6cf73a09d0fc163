import Foundation
import TestSupport
import Testing

/// The code in the README and in the client's articles is what people begin with.
@Suite struct SampleCodeTests {
    @Test(.timeLimit(.minutes(5))) func `the documents' Swift compiles as it stands`() throws {
        let samples = try SwiftSamples.all
        let compiled = samples.filter { $0.text.contains("import SatchelClient") && !$0.isForPhones }
        #expect(compiled.count >= 5 && samples.dropFirst().allSatisfy { $0.text.contains("import SatchelClient") })
        let directory = try TemporaryDirectory()
        let modules = try Repository.product("satchel").deletingLastPathComponent().appending(path: "Modules")
        for (number, sample) in compiled.enumerated() {
            let file = directory.url.appending(path: "sample\(number).swift")
            // What stands in the samples for an app's own.
            try
                (sample.text + """

                    var service: URL { URL(filePath: "/") }
                    var key: String { "" }
                    var grant: String { "" }
                    var photo: URL { URL(filePath: "/") }
                    var payload: Data { Data() }
                    var attachment: String { "" }
                    """).write(to: file, atomically: true, encoding: .utf8)
            let result = try Program.tool("swiftc").run([
                "-typecheck", "-swift-version", "6", "-I", modules.path, file.path,
            ])
            #expect(result.status == 0, "\(sample.document): \(result.errorText)")
        }
        #expect(samples[0].text.contains(".package(url:") && samples[0].text.contains("package: \"satchel\""))
    }
}
