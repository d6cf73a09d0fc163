public import Foundation
import Glibc

/// A file system of its own in memory, for tests of what happens between two, or on one that is small or read-only.
public struct MemoryDisk: Sendable {
    public let url: URL

    /// Runs `body` while the file system is mounted at `url`, which is made; it is unmounted in every case.
    ///
    /// - Parameter options: Of tmpfs: `size=1m`.
    public static func mounted<Result>(
        at url: URL, options: String = "size=64m", _ body: (MemoryDisk) throws -> Result
    ) throws -> Result {
        let disk = try MemoryDisk(mountedAt: url, options)
        defer { disk.unmount() }
        return try body(disk)
    }

    /// The same for a body that waits.
    public static func mounted<Result>(
        at url: URL, options: String = "size=64m", _ body: (MemoryDisk) async throws -> Result
    ) async throws -> Result {
        let disk = try MemoryDisk(mountedAt: url, options)
        defer { disk.unmount() }
        return try await body(disk)
    }

    private init(mountedAt url: URL, _ options: String) throws {
        self.url = url
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        guard unsafe mount("none", url.path(percentEncoded: false), "tmpfs", 0, options) == 0 else {
            throw Refused(errno)
        }
    }

    /// Whatever still has a file open there doesn't keep it.
    private func unmount() {
        unsafe umount2(url.path(percentEncoded: false), Int32(MNT_DETACH))
    }

    /// Gives it other options while it is in use.
    public func remount(_ options: String, readOnly: Bool = false) throws {
        let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
        guard unsafe mount("none", url.path(percentEncoded: false), "tmpfs", flags, options) == 0 else {
            throw Refused(errno)
        }
    }

    /// The test needs to mount, which root may.
    public struct Refused: Error, CustomStringConvertible {
        private let code: Int32

        init(_ code: Int32) {
            self.code = code
        }

        public var description: String { "this test needs to mount a file system in memory: error \(code)" }
    }
}
