import Foundation
import TestSupport

/// The Swift that the client's documents show: the README and the articles of its documentation.
enum SwiftSamples {
    struct Sample {
        var document: String
        var text: String

        /// What is on a phone alone is checked against stand-ins.
        var isForPhones: Bool { text.contains("import UserNotifications\n") }
    }

    static var all: [Sample] {
        get throws {
            let catalogue = Repository.root.appending(path: "Sources/Client/SatchelClient/SatchelClient.docc")
            let articles = try FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
            return try ([Repository.root.appending(path: "README.md")] + articles).flatMap { document in
                try String(contentsOf: document, encoding: .utf8).matches(
                    of: #/```swift\n(.*?)```/#.dotMatchesNewlines()
                ).map { Sample(document: document.lastPathComponent, text: String($0.1)) }
            }
        }
    }
}
