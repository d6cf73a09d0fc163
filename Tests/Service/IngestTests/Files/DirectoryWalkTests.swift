import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ingest

@Suite struct DirectoryWalkTests: ~Copyable {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var root: Data { Data(directory.path.utf8) }

    private func make(_ path: String, _ text: String = "x") throws {
        try make(Data(path.utf8), text)
    }

    /// Makes a file by its bytes, with the directories above it.
    private func make(_ path: Data, _ text: String = "x") throws {
        let components = path.split(separator: UInt8(ascii: "/"))
        for count in 1..<max(components.count, 1) {
            let parent = root + [0x2F] + Data(components.prefix(count).joined(separator: [0x2F]))
            _ = unsafe CPath(parent)?.withPointer { unsafe mkdir($0, 0o755) }
        }
        let full = try #require(CPath(root + [0x2F] + path))
        let number = unsafe full.withPointer { unsafe open($0, O_WRONLY | O_CREAT, 0o644) }
        try #require(number >= 0)
        let descriptor = Descriptor(owning: number)
        _ = unsafe write(descriptor.number, text, text.utf8.count)
    }

    private func walk(
        _ argument: Data? = nil, filter: PathFilter = PathFilter(), leavingOut: [Data] = [], namesAtOnce: Int = 65_536
    ) throws -> [WalkEntry] {
        var walk = try DirectoryWalk(
            argument ?? root, filter: filter, leavingOut: leavingOut, namesAtOnce: namesAtOnce)
        var entries: [WalkEntry] = []
        while let entry = walk.next() { entries.append(entry) }
        return entries
    }

    private func files(_ entries: [WalkEntry]) -> [String] {
        entries.compactMap { entry in
            if case .file(let path, _) = entry { String(decoding: path, as: UTF8.self) } else { nil }
        }
    }

    @Test func `files come in the order of their names, depth first, hidden ones too`() throws {
        for path in ["b/z", "b/a", "a.jpg", "c/d/e", ".hidden", "b.jpg", "Z"] { try make(path) }
        #expect(files(try walk()) == [".hidden", "Z", "a.jpg", "b/a", "b/z", "b.jpg", "c/d/e"])
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `a directory that is read in pieces gives every name once`(namesAtOnce: Int) throws {
        let names = (0..<50).map { "f\($0)" } + (0..<9).map { "sub/g\($0)" }
        for name in names { try make(name) }
        let expected = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(files(try walk(namesAtOnce: namesAtOnce)) == expected)
    }

    @Test func `names are bytes`() throws {
        let odd: [Data] = [
            Data("new\nline.jpg".utf8), Data([0xFF, 0xFE, 0x2E, 0x6A]), Data("-rf".utf8), Data("--".utf8),
            Data(" ".utf8), Data("*?[".utf8), Data("\u{1B}[31m".utf8), Data("a\\b".utf8), Data("ü".utf8),
            Data("u\u{308}".utf8), Data(repeating: 0x61, count: 255), Data([0xED, 0xA0, 0x80]),
        ]
        for name in odd { try make(name) }
        let entries = try walk()
        let found = entries.compactMap { if case .file(let path, _) = $0 { path } else { nil } }
        #expect(Set(found) == Set(odd))
        let root = try SourceRoot(root)
        for entry in entries {
            guard case .file(let path, let state) = entry else { continue }
            let reopened = try SourceFile.open(root: root.path, path: path, expecting: state)
            #expect(reopened.state == state)
            #expect(path.displayPath.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }

    @Test func `links, pipes, sockets and devices are reported and never opened`() throws {
        try make("real")
        try make("sub/inner")
        let path = directory.path
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: path + "/link", withDestinationPath: "real")
        try manager.createSymbolicLink(atPath: path + "/linked", withDestinationPath: "sub")
        try manager.createSymbolicLink(atPath: path + "/loop", withDestinationPath: ".")
        try manager.createSymbolicLink(atPath: path + "/dangling", withDestinationPath: "nowhere")
        try #require(unsafe mkfifo(path + "/pipe", 0o644) == 0)
        try #require(unsafe mknod(path + "/socket", S_IFSOCK | 0o644, 0) == 0)
        // The null device, in a place that whoever isn't root can give it.
        try #require(manager.createFile(atPath: path + "/device", contents: nil))
        try #require(unsafe mount("/dev/null", path + "/device", nil, UInt(MS_BIND), nil) == 0)
        defer { unsafe umount(path + "/device") }
        let entries = try walk()
        #expect(files(entries) == ["real", "sub/inner"])
        let skipped = entries.compactMap { entry in
            if case .skipped(let path, let kind) = entry { "\(path.displayPath) \(kind)" } else { nil }
        }
        #expect(
            skipped == [
                "dangling link", "device device", "link link", "linked link", "loop link", "pipe pipe", "socket socket",
            ])
        let root = try SourceRoot(root)
        for name in ["link", "linked", "loop", "dangling", "pipe", "socket", "device", "linked/inner", "sub"] {
            let error = #expect(throws: AttachmentError.self, "\(name)") { try root.open(Data(name.utf8)).state }
            #expect(error?.code == .invalidSource)
        }
    }

    @Test func `a directory that can't be read is reported and the walk goes on`() throws {
        try make("b/y")
        // Root reads every directory, but no path beyond 4096 bytes.
        let name = String(repeating: "a", count: 250)
        var level = Descriptor(owning: unsafe open(directory.path, O_RDONLY | O_DIRECTORY))
        for _ in 0..<20 {
            try #require(unsafe mkdirat(level.number, name, 0o755) == 0)
            level = Descriptor(owning: unsafe openat(level.number, name, O_RDONLY | O_DIRECTORY))
        }
        defer { remove(name) }
        let entries = try walk()
        let deep = entries.compactMap {
            if case .unreadable(let path, let reason) = $0 { (path.count, reason) } else { nil }
        }
        #expect(deep.map(\.0) == [4266])
        #expect(deep.map(\.1) == ["its path is too long"])
        #expect(files(entries) == ["b/y"])
    }

    /// Removes a tree that is deeper than a path may be long.
    private func remove(_ name: String) {
        _ = try? Program.tool("rm").run(["-rf", directory.path + "/" + name])
    }

    @Test func `patterns choose files, and an excluded directory is not entered`() throws {
        for path in ["a.jpg", "b.png", "sub/c.jpg", "cache/d.jpg", "cache/deep/e.jpg", ".x/f.jpg"] { try make(path) }
        #expect(files(try walk(filter: PathFilter(include: ["*.jpg"]))).count == 5)
        #expect(
            files(try walk(filter: PathFilter(include: ["*.jpg"], exclude: ["cache"]))) == [
                ".x/f.jpg", "a.jpg", "sub/c.jpg",
            ])
        #expect(files(try walk(filter: PathFilter(exclude: ["*.jpg"]))) == ["b.png"])
        #expect(files(try walk(filter: PathFilter(include: ["sub/*", "b.???"]))) == ["b.png", "sub/c.jpg"])
        #expect(files(try walk(filter: PathFilter(include: ["[ab].*"], exclude: ["b.*"]))) == ["a.jpg"])
    }

    @Test func `the store and the output are left out wherever they lie`() throws {
        for path in ["a", "store/b", "deep/out/c", "deep/d"] { try make(path) }
        let leftOut = ["/store", "/deep/../deep/out/", "/missing"].map { Data((directory.path + $0).utf8) }
        #expect(files(try walk(leavingOut: leftOut)) == ["a", "deep/d"])
    }

    @Test func `a file that is named directly is found beneath its directory`() throws {
        try make("sub/-x.jpg", "abc")
        let entries = try walk(root + Data("/sub/-x.jpg".utf8), filter: PathFilter(include: ["*.png"]))
        #expect(files(entries) == ["-x.jpg"])
        let walk = try DirectoryWalk(root + Data("/sub/-x.jpg".utf8))
        #expect(walk.root.path.suffix(4) == Data("/sub".utf8))
        let error = #expect(throws: AttachmentError.self) {
            try DirectoryWalk(root + Data("/missing.jpg".utf8)).root.path
        }
        #expect(error?.code == .invalidSource)
    }

    @Test func `a root may be a link, for a person named it`() throws {
        try make("real/a")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path + "/alias", withDestinationPath: "real")
        let alias = root + Data("/alias".utf8)
        let entries = try walk(alias)
        #expect(files(entries) == ["a"])
        guard case .file(let path, let state)? = entries.first else { return }
        #expect(try SourceFile.open(root: alias, path: path, expecting: state).state == state)
    }

    @Test func `a directory that is exchanged for a link mid-walk is not followed`() throws {
        try make("a")
        try make("sub/inner")
        try make("secret/inner")
        var walk = try DirectoryWalk(root, filter: PathFilter(exclude: ["secret"]))
        #expect(walk.next() == (try walkFirst("a")))
        try #require(unsafe rename(directory.path + "/sub", directory.path + "/moved") == 0)
        try FileManager.default.createSymbolicLink(atPath: directory.path + "/sub", withDestinationPath: "secret")
        #expect(walk.next() == .skipped(path: Data("sub".utf8), .link))
        #expect(walk.next() == nil)
        #expect(throws: AttachmentError.invalidSource(reason: "its path contains a symbolic link")) {
            try walk.root.open(Data("sub/inner".utf8)).state
        }
    }

    /// The entry that a walk over one file gives.
    private func walkFirst(_ name: String) throws -> WalkEntry? {
        try walk(root + Data("/\(name)".utf8)).first
    }

    @Test(arguments: ["../outside", "/etc/passwd", "sub/../../outside", "", ".", "..", "sub", "missing", "a/b", "a\0b"])
    func `nothing outside the root is opened`(path: String) throws {
        try make("a")
        try make("sub/inner")
        try make("outside")
        let root = try SourceRoot(root + Data("/sub".utf8))
        let error = #expect(throws: AttachmentError.self) { try root.open(Data(path.utf8)).state }
        #expect(error?.code == .invalidSource)
    }

    @Test func `a file that changed since it was found is refused`() throws {
        try make("f", "before")
        guard case .file(let path, let state)? = try walkFirst("f") else { return }
        #expect(try SourceFile.open(root: root, path: path, expecting: state).state.bytes == 6)

        func expectRefusal(_ comment: Comment) {
            #expect(throws: AttachmentError.invalidSource(reason: "it changed after it was found"), comment) {
                try SourceFile.open(root: root, path: path, expecting: state).state
            }
        }
        try make("f", "longer than before")
        expectRefusal("size")
        try #require(unsafe truncate(directory.path + "/f", 6) == 0)
        expectRefusal("modification time")
        try #require(unsafe unlink(directory.path + "/f") == 0)
        try make("other")
        try make("f", "before")
        expectRefusal("inode")
    }

    @Test func `a file from the far future has a state`() throws {
        try make("f")
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 253_402_300_799, tv_nsec: 999_999_999)]
        _ = unsafe utimensat(AT_FDCWD, directory.path + "/f", &times, 0)
        guard case .file(_, let state)? = try walkFirst("f") else {
            Issue.record("the file is missing")
            return
        }
        #expect(try SourceFile.open(root: root, path: Data("f".utf8), expecting: state).state == state)
    }

    @Test func `two descriptors suffice for a deep tree, and none is left open`() throws {
        try make(Data((0..<200).map { _ in "d" }.joined(separator: "/").utf8) + Data("/f".utf8))
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        #expect(files(try walk()).count == 1)
        let after = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        // Other tests open and close meanwhile; 200 levels would show.
        #expect(after < before + 100)
    }
}
