import Foundation
import SatchelClient
import TestSupport
import Testing

/// Readers copy the code in the README, in `docs/apps.md` and in the client's articles.
@Suite struct SampleCodeTests {
    /// Objects that a program with the client consists of.
    private static let objects = [
        "SatchelClient", "Crypto", "CryptoExtras", "CryptoBoringWrapper", "CCryptoBoringSSL", "CCryptoBoringSSLShims",
        "CXKCP", "CXKCPShims", "SwiftASN1",
    ]

    @Test(.timeLimit(.minutes(5)))
    func `the documents' Swift works with a real service`() async throws {
        let service = try await RunningService()
        let photo = RunningService.sample("jpeg/coffee.jpg")
        let job = try await service.client.submit(JobRequest([.file(photo)]), waitingUpTo: 30)
        let attachment = try #require(job.attachments.first).id
        let grant = try await service.client.giveGrant(on: attachment)
        let samples = try SwiftSamples.all.filter { !$0.isManifest && !$0.isForPhones }
        let functions = samples.enumerated().map { number, sample in
            let code = sample.text.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.hasPrefix("import ") && !$0.hasPrefix("#") }.joined(separator: "\n")
                // Nothing is fetched from other machines.
                .replacing("https://example.com", with: "http://127.0.0.1:9")
            let check =
                code.contains("let pushed") ? "guard pushed.mediaCount == 1 else { fatalError(\"no media\") }" : ""
            return """
                func sample\(number)() async throws {
                \(code)
                \(check)
                }
                try await sample\(number)()
                print("\(sample.document) works")
                """
        }
        let values = """
            import Foundation
            import FoundationNetworking
            import SatchelClient
            let (service, key, grant) = (URL(string: "\(service.url)")!, "\(service.key)", "\(grant.token)")
            let photo = URL(filePath: "\(photo.path)")
            let payload = Data(#"{"aps":{"alert":"A"},"my-attachment":"http://127.0.0.1:9/a.jpg"}"#.utf8)
            let attachment = "\(attachment)"

            """
        let directory = try TemporaryDirectory()
        let source = directory.url.appending(path: "main.swift")
        try (values + functions.joined(separator: "\n")).write(to: source, atomically: true, encoding: .utf8)
        let built = try Repository.product("satchel").deletingLastPathComponent()
        let objects = try Self.objects.flatMap { name in
            let folder = built.appending(path: "\(name).build")
            return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".o") }
                .map { folder.appending(path: $0).path }
        }
        let program = directory.url.appending(path: "samples").path
        let compiled = try Program.tool("swiftc").run(
            [
                "-swift-version", "6", "-I", built.appending(path: "Modules").path, source.path, "-o", program,
                "-lstdc++",
            ] + objects)
        try #require(compiled.status == 0, "\(compiled.errorText.suffix(4000))")
        let result = try await Program(URL(filePath: program)).start([]).end()
        #expect(result.status == 0, "\(result.outputText)\(result.errorText.prefix(2000))")
        #expect(result.outputText.split(separator: "\n").count == samples.count && samples.count >= 8)
    }

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
