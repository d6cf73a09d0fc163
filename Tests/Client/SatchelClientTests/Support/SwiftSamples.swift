import Foundation
import TestSupport

/// The Swift code in the README, in `docs/apps.md` and in the client's articles.
enum SwiftSamples {
    struct Sample {
        var document: String
        var text: String

        /// Whether it is a part of `Package.swift`.
        var isManifest: Bool { text.contains(".package(url:") }

        /// Whether it needs frameworks of a phone. Such code is compiled with stand-ins for them.
        var isForPhones: Bool { text.contains("import UserNotifications\n") }
    }

    static var all: [Sample] {
        get throws {
            let catalogue = Repository.root.appending(path: "Sources/Client/SatchelClient/SatchelClient.docc")
            let articles = try FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
            let pages = ["README.md", "docs/apps.md"].map { Repository.root.appending(path: $0) }
            return try (pages + articles).flatMap { document in
                try String(contentsOf: document, encoding: .utf8).matches(
                    of: #/```swift\n(.*?)```/#.dotMatchesNewlines()
                ).map { Sample(document: document.lastPathComponent, text: String($0.1)) }
            }
        }
    }
}
