import Foundation
import TestSupport
import Testing

/// The code in the README is what people begin with.
@Suite struct SampleCodeTests {
    @Test(.timeLimit(.minutes(5))) func `the README's Swift compiles as it stands`() throws {
        let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        let samples = readme.matches(of: #/```swift\n(.*?)```/#.dotMatchesNewlines()).map { String($0.1) }
        // UserNotifications is on the phone alone.
        let compiled = samples.filter { $0.contains("import SatchelClient") && !$0.contains("UserNotifications") }
        #expect(compiled.count == 2 && samples.dropFirst().allSatisfy { $0.contains("import SatchelClient") })
        let directory = try TemporaryDirectory()
        let modules = try Repository.product("satchel").deletingLastPathComponent().appending(path: "Modules")
        for (number, sample) in compiled.enumerated() {
            let file = directory.url.appending(path: "sample\(number).swift")
            // What stands in the samples for an app's own.
            try
                (sample + """

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
            #expect(result.status == 0, "\(result.errorText)")
        }
        #expect(samples[0].contains(".package(url:") && samples[0].contains("package: \"satchel\""))
    }
}
