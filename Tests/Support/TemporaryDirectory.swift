public import Foundation

/// A directory for one test, removed with everything in it at the end of its life.
public struct TemporaryDirectory: ~Copyable, Sendable {
    public let url: URL

    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "satchel-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    public var path: String { url.path(percentEncoded: false) }
}
