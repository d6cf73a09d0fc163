import SatchelCore
import Foundation
import Payloads
import TestSupport
import Testing

@testable import API

/// Readers of `/docs` copy its commands.
@Suite(.timeLimit(.minutes(5))) struct DocumentedCommandTests {
    /// What a service answers a correct command whose object, sources or receiver don't exist here.
    private static let unmet = [404, 409, 410, 422]

    @Test func `every command of the page is a correct request of a real service`() async throws {
        try await LiveService.run { live in
            let directory = try TemporaryDirectory()
            let key = try #require(live.keys[.admin]).secretText
            let document = OpenAPIDocument.current
            var met = 0
            for call in document.operations {
                for example in CommandExample.examples(of: call, in: document) where example.contains("curl ") {
                    let command = example.replacing(
                        "https://satchel.example.com", with: "http://127.0.0.1:\(live.port)"
                    )
                    .replacing("satk_…", with: key)
                    // No worker runs here, so nothing is worth waiting for.
                    .replacing(/wait=\d+/, with: "wait=0")
                    .replacing(#/\/v1\/payloads\/\w+/#) { $0.output + "?deadline=0.1" }
                    .replacing("curl ", with: "curl -sS -m 3 -o answer -w '%{http_code} ' ")
                    var shell = Program.tool("sh")
                    shell.directory = directory.url
                    for name in ["photo.jpg", "IMG_0042.HEIC", "answer"] {
                        try Data("x".utf8).write(to: directory.url.appending(path: name))
                    }
                    let result = try await shell.start(["-c", command]).end()
                    let answer =
                        (try? String(contentsOf: directory.url.appending(path: "answer"), encoding: .utf8)) ?? ""
                    let statuses = result.outputText.split(separator: " ").compactMap { Int($0) }
                    #expect(!statuses.isEmpty, "\(example)\n\(result.errorText)")
                    for status in statuses {
                        let isRight =
                            200..<400 ~= status || Self.unmet.contains(status)
                            // No worker prepares its media, so there is none yet.
                            || answer.contains("the number of a firing that has a payload")
                        #expect(!command.contains("{id}"), "\(example)")
                        #expect(isRight, "\(status) for:\n\(example)\n\(answer.prefix(600))")
                        if 200..<300 ~= status { met += 1 }
                    }
                }
            }
            #expect(met > 30)
        }
    }

    @Test func `the page lists every place where a format has media, and the guide those of APNs`() throws {
        let guide = try String(
            contentsOf: Repository.root.appending(path: "docs/push-payloads.md"), encoding: .utf8)
        for format in PayloadFormat.allCases {
            #expect(!format.mediaPlaces.isEmpty)
            for place in format.mediaPlaces {
                #expect(DocumentationPage.current.contains("<li><code>\(place)</code></li>"), "\(place)")
                let name = place.tokens.joined(separator: ".")
                if format == .apns { #expect(guide.contains("`\(name)`"), "\(name)") }
            }
        }
    }
}
