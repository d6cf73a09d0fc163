import SatchelCore
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Platform

@Suite struct FilesTests: ~Copyable {
    private let home: TemporaryDirectory
    private var path: FilePath { FilePath(home.path) }

    init() throws {
        home = try TemporaryDirectory()
    }

    @Test func `a name need not be UTF-8`() throws {
        let name: [UInt8] = [0x66, 0xff, 0xfe, 0x2e]
        try Files.write([1, 2, 3], to: path.pushing(FilePath(bytes: name)))
        var names: [[UInt8]] = []
        try Files.forEachName(in: Files.open(path, .readOnly, .directory, to: "look")) {
            names.append($0)
            return true
        }
        #expect(names == [name])
        #expect(try Files.facts(of: path.pushing(FilePath(bytes: name)))?.bytes == 3)
    }

    @Test func `names are given until enough are known, and from the beginning each time`() throws {
        for number in 0..<20 { try Files.write([], to: path.appending("\(number)")) }
        let directory = try Files.open(path, .readOnly, .directory, to: "look")
        for _ in 0..<2 {
            var count = 0
            try Files.forEachName(in: directory) { _ in
                count += 1
                return count < 7
            }
            #expect(count == 7)
        }
        #expect(try Set(Files.names(in: path)) == Set((0..<20).map(String.init)))
    }

    @Test func `whatever is missing of the way to a directory is made, and what is there is left`() throws {
        let deep = path.appending("a").appending("b").appending("c")
        try Files.makeDirectories(deep)
        try Files.makeDirectories(deep)
        #expect(Files.isDirectory(deep))
        #expect(try !Files.makeDirectory(deep))
        let file = path.appending("file")
        try Files.write([], to: file)
        #expect(throws: SystemError.self) { try Files.makeDirectories(file.appending("below")) }
        #expect(try Files.facts(of: file.appending("below")) == nil)
    }

    @Test func `a part is read from anywhere, and no further than the file goes`() throws {
        let file = path.appending("file")
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try Files.write(bytes, to: file)
        let open = try Files.open(file, .readOnly, to: "read")
        for range: Range<Int64> in [0..<10, 1_000_000..<2_500_000, 2_999_990..<3_000_100, 5_000_000..<5_000_001] {
            let end = min(range.upperBound, Int64(bytes.count))
            let expected = range.lowerBound < end ? Array(bytes[Int(range.lowerBound)..<Int(end)]) : []
            #expect(try Files.read(range, of: open) == expected)
        }
        #expect(try Files.size(of: open) == 3_000_000)
    }

    @Test func `a copy has the bytes, and one that fails leaves nothing`() throws {
        let file = path.appending("file")
        try Files.write(Array(repeating: 7, count: 2_000_000), to: file)
        try Files.copy(Files.open(file, .readOnly, to: "read"), to: path.appending("copy"))
        #expect(try Data(contentsOf: home.url.appending(path: "copy")) == Data(repeating: 7, count: 2_000_000))
        // A directory can be opened for reading, and not read.
        let directory = try Files.open(path, .readOnly, .directory, to: "read")
        #expect(throws: SystemError("read a file", code: EISDIR)) {
            try Files.copy(directory, to: path.appending("none"))
        }
        #expect(try Files.facts(of: path.appending("none")) == nil)
    }

    @Test func `a file without a name gets one, and never in place of another`() throws {
        let file = try Files.open(path, .readWrite, .unnamed, permissions: .ownerRead, to: "make")
        #expect(try Files.names(in: path).isEmpty)
        #expect(Files.link(file, to: path.appending("name")) == 0)
        #expect(Files.link(file, to: path.appending("name")) == EEXIST)
        #expect(Files.link(path.appending("none"), to: path.appending("other")) == ENOENT)
        #expect(try Files.names(in: path) == ["name"])
    }

    @Test func `an error says what was being done, and has the kernel's code`() throws {
        #expect(throws: SystemError("find it", code: ENOENT)) {
            _ = try Files.open(path.appending("none"), .readOnly, to: "find it")
        }
        unsafe symlink(home.path, home.path + "/link")
        #expect(throws: SystemError("find it", code: ELOOP)) {
            _ = try Files.open(path.appending("link"), .readOnly, to: "find it")
        }
        #expect(try !Files.remove(path.appending("none")))
        #expect(try Files.freeBytes(at: path) > 0)
    }
}
