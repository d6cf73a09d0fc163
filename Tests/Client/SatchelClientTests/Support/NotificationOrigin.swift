import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@testable import SatchelClient

/// Answers requests for a name with that name, once it was opened; what is called `missing` with 404.
final class NotificationOrigin: Sendable {
    let home: TemporaryDirectory
    let url: URL
    private let origin: LocalOrigin
    private let gates: Gates

    /// - Parameter bodies: What is answered in the place of some names.
    init(_ bodies: [String: Data] = [:]) async throws {
        let gates = Gates()
        let origin = try await LocalOrigin { request in
            let name = String(request.path.split(separator: "/").last?.prefix { $0 != "." } ?? "")
            try await gates.pass(name)
            return LocalOrigin.Answer(
                status: name.contains("missing") ? 404 : 200, body: bodies[name] ?? Data(name.utf8))
        }
        home = try TemporaryDirectory()
        url = try #require(URL(string: origin.url("/")))
        self.origin = origin
        self.gates = gates
    }

    /// A link and its preview, and which of the names that it needs are opened.
    typealias Wanted = (link: SatchelNotification.Link, opened: [String])

    /// - Parameter encryptions: With what those of the names are encrypted that are.
    func link(
        _ name: String, preview: String?, opened: [String], encryptions: [String: Encryption] = [:]
    ) -> Wanted {
        let link = SatchelNotification.Link(
            identifier: name, url: url.appending(path: "get/\(name).txt"), encryption: encryptions[name],
            previewURL: preview.map { url.appending(path: "get/\($0).txt") },
            previewEncryption: preview.flatMap { encryptions[$0] })
        return (link, opened)
    }

    func notification(_ wanted: [Wanted]) -> SatchelNotification {
        for name in wanted.flatMap(\.opened) { open(name) }
        return SatchelNotification(v: 1, attachments: wanted.map(\.link))
    }

    func open(_ name: String) {
        gates.open(name)
    }

    /// The files that lie there, without extensions.
    func kept() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.path).map { String($0.prefix { $0 != "." }) }.sorted()
    }

    static func content(of file: SatchelNotification.File) throws -> String {
        try String(contentsOf: file.file, encoding: .utf8)
    }
}
