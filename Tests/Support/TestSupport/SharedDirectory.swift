public import Foundation
import Glibc
import Synchronization

/// A directory of files that several tests use and none changes; removed when the process ends.
public struct SharedDirectory: Sendable {
    public let url: URL

    private static let all = Mutex<[URL]?>(nil)

    /// - Parameter make: Fills it.
    public init(_ make: (URL) throws -> Void = { _ in }) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "satchel-shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let url = url
        Self.all.withLock { all in
            if all == nil { atexit { SharedDirectory.removeAll() } }
            all = (all ?? []) + [url]
        }
        try make(url)
    }

    private static func removeAll() {
        for url in all.withLock({ $0 ?? [] }) { try? FileManager.default.removeItem(at: url) }
    }
}
