public import Foundation

/// A directory for one test, removed with everything in it at the end of its life.
public struct TemporaryDirectory: ~Copyable, Sendable {
    public let url: URL

    /// - Parameter inMemory: On a file system in memory, where there is one, for tests that would wait for a disk.
    public init(inMemory: Bool = false) throws {
        let memory = URL(filePath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path(percentEncoded: false))
        let parent = inMemory && isThere ? memory : FileManager.default.temporaryDirectory
        url = parent.appending(path: "satchel-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    public var path: String { url.path(percentEncoded: false) }
}
