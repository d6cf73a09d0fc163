import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ingest

@Suite struct FileCopyTests {
    /// Longer than a piece of the copy through memory, and no multiple of one.
    private static let bytes: Data = {
        var generator = SeededGenerator(seed: 3)
        return Data((0..<700_001).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }()

    private func open(_ url: URL, _ flags: Int32) throws -> Descriptor {
        let number = unsafe Glibc.open(url.path(percentEncoded: false), flags | O_CLOEXEC, 0o600)
        try #require(number >= 0, "\(url)")
        return Descriptor(owning: number)
    }

    @Test func `a file is copied whole within a file system and between two, also to the end of what is there`() throws
    {
        let home = try TemporaryDirectory()
        try MemoryDisk.mounted(at: home.url.appending(path: "disk")) { disk in
            let source = home.url.appending(path: "source")
            try Self.bytes.write(to: source)
            for (place, flags) in [(home.url, 0), (disk.url, 0), (disk.url, O_APPEND)] {
                let target = place.appending(path: "target \(flags)")
                let input = try open(source, O_RDONLY)
                // From its start, wherever somebody has read to.
                lseek(input.number, 1000, SEEK_SET)
                let copied = try copyFile(input, to: try open(target, O_WRONLY | O_CREAT | flags))
                #expect(copied == Int64(Self.bytes.count))
                #expect(try Data(contentsOf: target) == Self.bytes)
            }
        }
    }

    @Test func `a file is copied into a pipe`() throws {
        let home = try TemporaryDirectory()
        let source = home.url.appending(path: "source")
        try Self.bytes.prefix(10_000).write(to: source)
        let pipe = Pipe()
        let output = Descriptor(owning: dup(pipe.fileHandleForWriting.fileDescriptor))
        #expect(try copyFile(try open(source, O_RDONLY), to: output) == 10_000)
        #expect(try pipe.fileHandleForReading.read(upToCount: 10_000) == Self.bytes.prefix(10_000))
    }

    @Test func `what can't be copied says which of the two files it is due to`() throws {
        let home = try TemporaryDirectory()
        try MemoryDisk.mounted(at: home.url.appending(path: "disk"), options: "size=64k") { disk in
            let source = home.url.appending(path: "source")
            try Self.bytes.write(to: source)
            let full = #expect(throws: CopyFailure.self) {
                try copyFile(
                    try open(source, O_RDONLY), to: try open(disk.url.appending(path: "target"), O_WRONLY | O_CREAT))
            }
            guard case .target(let error)? = full else {
                Issue.record("\(String(describing: full))")
                return
            }
            #expect(error.isOutOfSpace)
            let unreadable = #expect(throws: CopyFailure.self) {
                try copyFile(
                    try open(home.url, O_RDONLY), to: try open(home.url.appending(path: "target"), O_WRONLY | O_CREAT))
            }
            #expect(unreadable == .source(SystemError("read a file", code: EISDIR)))
        }
    }
}
