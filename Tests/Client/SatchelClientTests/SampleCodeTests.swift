import Foundation
import TestSupport
import Testing

/// Readers copy the code in the README, in `docs/apps.md` and in the client's articles.
@Suite struct SampleCodeTests {
    @Test(.timeLimit(.minutes(5))) func `the documents' Swift compiles as it stands`() throws {
        let samples = try SwiftSamples.all
        let (manifests, code) = (samples.filter(\.isManifest), samples.filter { !$0.isManifest })
        let compiled = code.filter { !$0.isForPhones }
        #expect(compiled.count >= 8 && code.allSatisfy { $0.text.contains("import SatchelClient") })
        #expect(Set(manifests.map(\.document)) == ["README.md", "apps.md"])
        #expect(manifests.allSatisfy { $0.text.contains("package: \"satchel\"") })
        let directory = try TemporaryDirectory()
        let modules = try Repository.product("satchel").deletingLastPathComponent().appending(path: "Modules")
        for (number, sample) in compiled.enumerated() {
            let file = directory.url.appending(path: "sample\(number).swift")
            // Readers add the import on Linux, and have values of their own.
            let networking = sample.text.contains("FoundationNetworking") ? "" : "import FoundationNetworking\n"
            try
                (networking + sample.text + """

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
    }
}
