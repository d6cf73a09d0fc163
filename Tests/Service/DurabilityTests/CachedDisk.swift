import Foundation
import Glibc
import TestSupport

/// A disk and the cache before it, into which recorded calls are replayed.
///
/// Each file has durable bytes and changes that only the cache holds; each directory has durable names and changes of
/// names likewise. A sync moves the changes of that one file or directory, and nothing else, to the disk: what POSIX
/// promises, which is less than any file system does. When the power fails, any of the changes in the cache may have
/// reached the disk by itself or not, in any order.
struct CachedDisk: Sendable {
    typealias NodeID = Int

    struct File: Sendable {
        var durable = Data()
        var cached: [(call: Int, change: Change)] = []

        enum Change: Sendable {
            case write(offset: Int, Data)
            case truncate(Int)
        }
    }

    struct Directory: Sendable {
        var durable: [String: NodeID] = [:]
        var cached: [(call: Int, change: Change)] = []
        /// As a running program sees it.
        var present: [String: NodeID] = [:]

        enum Change: Sendable {
            case add(String, NodeID)
            case remove(String)
            case move(String, to: String, NodeID)
        }
    }

    private enum Node: Sendable {
        case file(File)
        case directory(Directory)
    }

    private var nodes: [Node] = []
    /// The newest node of an inode; the file system uses the number of a removed file again.
    private var byInode: [UInt64: NodeID] = [:]
    private var paths: [NodeID: String] = [:]

    /// A disk that holds what was there before the recording.
    init(_ start: [String: Recording.Original]) {
        // Shorter paths first, so that a directory is there before what it holds.
        for (path, original) in start.sorted(by: { $0.key.utf8.count < $1.key.utf8.count }) {
            let id = add(original.content.map { .file(File(durable: $0)) } ?? .directory(Directory()))
            byInode[original.inode] = id
            paths[id] = path
            guard !path.isEmpty else { continue }
            let (parent, name) = Self.split(path)
            guard let parentID = paths.first(where: { $0.value == parent })?.key else { continue }
            change(directory: parentID) { directory in
                directory.durable[name] = id
                directory.present[name] = id
            }
        }
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private mutating func add(_ node: Node) -> NodeID {
        nodes.append(node)
        return nodes.count - 1
    }

    private mutating func change(file id: NodeID, _ body: (inout File) -> Void) {
        guard case .file(var file) = nodes[id] else { return }
        nodes[id] = .file(File())
        body(&file)
        nodes[id] = .file(file)
    }

    private mutating func change(directory id: NodeID, _ body: (inout Directory) -> Void) {
        guard case .directory(var directory) = nodes[id] else { return }
        nodes[id] = .directory(Directory())
        body(&directory)
        nodes[id] = .directory(directory)
    }

    /// The path that a file or directory had at last, beneath the root; empty where it never had one.
    func path(of inode: UInt64) -> String { byInode[inode].flatMap { paths[$0] } ?? "" }

    // MARK: Replaying

    /// What a call does when the power stays on. Files outside the root are passed over.
    mutating func replay(_ call: Call, at index: Int) {
        switch call.operation {
        case .create(let inode, let directory, let name):
            byInode[inode] = add(.file(File()))
            addName(name, of: inode, in: directory, at: index)
        case .createUnnamed(let inode):
            byInode[inode] = add(.file(File()))
        case .makeDirectory(let inode, let directory, let name):
            byInode[inode] = add(.directory(Directory()))
            addName(name, of: inode, in: directory, at: index)
        case .link(let inode, let directory, let name):
            addName(name, of: inode, in: directory, at: index)
        case .rename(let old, let name, let new, let newName):
            rename(name, in: old, to: newName, in: new, at: index)
        case .unlink(let directory, let name):
            guard let directory = byInode[directory] else { return }
            change(directory: directory) {
                $0.present[name] = nil
                $0.cached.append((index, .remove(name)))
            }
        case .truncate(let inode, let length):
            guard let id = byInode[inode] else { return }
            change(file: id) { $0.cached.append((index, .truncate(length))) }
        case .write(let inode, let offset, let bytes):
            guard let id = byInode[inode] else { return }
            change(file: id) { $0.cached.append((index, .write(offset: offset, bytes))) }
        case .sync(let inode):
            guard let id = byInode[inode] else { return }
            sync(id, before: call.began)
        case .output, .sent, .exit:
            break
        }
    }

    private mutating func addName(_ name: String, of inode: UInt64, in directory: UInt64, at index: Int) {
        guard let id = byInode[inode], let directory = byInode[directory] else { return }
        let parent = paths[directory] ?? ""
        paths[id] = parent.isEmpty ? name : "\(parent)/\(name)"
        change(directory: directory) {
            $0.present[name] = id
            $0.cached.append((index, .add(name, id)))
        }
    }

    private mutating func rename(
        _ name: String, in old: UInt64, to newName: String, in new: UInt64, at index: Int
    ) {
        guard let old = byInode[old], let new = byInode[new], case .directory(let source) = nodes[old],
            let id = source.present[name]
        else { return }
        let parent = paths[new] ?? ""
        paths[id] = parent.isEmpty ? newName : "\(parent)/\(newName)"
        if old == new {
            change(directory: old) {
                $0.present[name] = nil
                $0.present[newName] = id
                $0.cached.append((index, .move(name, to: newName, id)))
            }
        } else {
            change(directory: old) {
                $0.present[name] = nil
                $0.cached.append((index, .remove(name)))
            }
            change(directory: new) {
                $0.present[newName] = id
                $0.cached.append((index, .add(newName, id)))
            }
        }
    }

    private mutating func sync(_ id: NodeID, before began: Int) {
        change(file: id) { file in
            for (call, change) in file.cached where call < began { file.durable.apply(change) }
            file.cached.removeAll { $0.call < began }
        }
        change(directory: id) { directory in
            for (call, change) in directory.cached where call < began { directory.durable.apply(change) }
            directory.cached.removeAll { $0.call < began }
        }
    }

    /// Whether a sync of this file or directory would move anything.
    func hasCached(_ inode: UInt64, before began: Int) -> Bool {
        guard let id = byInode[inode] else { return false }
        return switch nodes[id] {
        case .file(let file): file.cached.contains { $0.call < began }
        case .directory(let directory): directory.cached.contains { $0.call < began }
        }
    }

    // MARK: Losing power

    /// Which of the changes in the cache reach the disk when the power fails.
    enum Luck: Hashable, CustomStringConvertible {
        /// All of it: the power stayed on, and the program was killed.
        case all
        /// Nothing that was not synced.
        case none
        /// Names, but no bytes: files that are empty or old.
        case namesOnly
        /// Bytes, but no names.
        case bytesOnly
        /// Of the names, only the last change in each directory: the newest without what it builds upon.
        case newestNamesOnly
        /// Each change or not, by itself; a write perhaps only in part.
        case random(seed: UInt64)

        var description: String {
            switch self {
            case .all: "all kept"
            case .none: "all lost"
            case .namesOnly: "only names kept"
            case .bytesOnly: "only bytes kept"
            case .newestNamesOnly: "only the newest names kept"
            case .random(let seed): "kept by chance \(seed)"
            }
        }
    }

    /// What is on the disk after a power cut.
    func afterPowerCut(_ luck: Luck) -> Tree {
        var chance = Chance(luck)
        var tree = Tree()
        var contents: [NodeID: Data] = [:]
        func visit(_ id: NodeID, at path: String) {
            guard case .directory(let directory) = nodes[id] else { return }
            tree.directories.append(path)
            var names = directory.durable
            for (index, (_, change)) in directory.cached.enumerated()
            where chance.keepsName(isNewest: index == directory.cached.count - 1) {
                names.apply(change)
            }
            for (name, child) in names.sorted(by: { $0.key < $1.key }) {
                let childPath = path.isEmpty ? name : "\(path)/\(name)"
                guard case .file(let file) = nodes[child] else {
                    visit(child, at: childPath)
                    continue
                }
                if contents[child] == nil {
                    var bytes = file.durable
                    for (_, change) in file.cached {
                        if let kept = chance.part(of: change) { bytes.apply(kept) }
                    }
                    contents[child] = bytes
                }
                tree.files[childPath] = contents[child]
            }
        }
        visit(0, at: "")
        return tree
    }
}

/// Decides what of the cache reached the disk.
private struct Chance {
    private let luck: CachedDisk.Luck
    private var random: SeededGenerator

    init(_ luck: CachedDisk.Luck) {
        self.luck = luck
        random = if case .random(let seed) = luck { SeededGenerator(seed: seed) } else { SeededGenerator() }
    }

    mutating func keepsName(isNewest: Bool) -> Bool {
        switch luck {
        case .newestNamesOnly: isNewest
        case .none, .bytesOnly: false
        case .all, .namesOnly: true
        case .random: random.next() % 2 == 0
        }
    }

    mutating func part(of change: CachedDisk.File.Change) -> CachedDisk.File.Change? {
        switch luck {
        case .none, .namesOnly, .newestNamesOnly: return nil
        case .all, .bytesOnly: return change
        case .random:
            let draw = random.next() % 4
            if draw < 2 { return nil }
            guard draw == 3, case .write(let offset, let bytes) = change else { return change }
            // Sectors of 512 bytes are written whole; of several, the first ones.
            return .write(offset: offset, bytes.prefix(bytes.count / 2 / 512 * 512))
        }
    }
}

extension Data {
    fileprivate mutating func apply(_ change: CachedDisk.File.Change) {
        switch change {
        case .truncate(let length):
            count = length
        case .write(let offset, let bytes):
            if bytes.isEmpty { return }
            let end = offset + bytes.count
            if end > count { count = end }
            replaceSubrange(offset..<end, with: bytes)
        }
    }
}

extension [String: CachedDisk.NodeID] {
    fileprivate mutating func apply(_ change: CachedDisk.Directory.Change) {
        switch change {
        case .add(let name, let id): self[name] = id
        case .remove(let name): self[name] = nil
        case .move(let name, let newName, let id):
            self[name] = nil
            self[newName] = id
        }
    }
}

/// Directories and files as they are found after a power cut.
struct Tree: Hashable {
    var directories: [String] = []
    var files: [String: Data] = [:]

    /// With all bytes: `Data` takes its first 80 alone, and an array one after the other.
    func hash(into hasher: inout Hasher) {
        hasher.combine(directories)
        for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
            hasher.combine(path)
            hasher.combine(bytes.count)
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
    }

    /// Makes them beneath a directory that is there.
    func write(to root: String) throws {
        for path in directories where !path.isEmpty { unsafe mkdir("\(root)/\(path)", 0o700) }
        for (path, bytes) in files {
            // As the program makes its keys; it refuses them with any other mode.
            let number = unsafe open("\(root)/\(path)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            try FileHandle(fileDescriptor: number, closeOnDealloc: true).write(contentsOf: bytes)
        }
    }
}
