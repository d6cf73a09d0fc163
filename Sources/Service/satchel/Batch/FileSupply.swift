import SatchelCore
import Foundation
import Ingest
import Platform
import SystemPackage

/// The files of a batch: those of `--files-from`, then those in each directory.
struct FileSupply: SourceSupply {
    private let roots: [Data]
    private let listed: [Data]
    /// All paths given as arguments or in a list.
    var arguments: [Data] { listed + roots }
    private let filter: PathFilter
    private let leavingOut: [Data]
    private let shard: Shard?
    /// Watches the directories that are walked.
    var watch: DirectoryWatch?
    /// Returns whether to report an entry; `nil` to report all.
    var isWanted: (@Sendable (FoundEntry) -> Bool)?

    /// - Parameter list: A file with paths, or `-` for standard input.
    /// - Throws: ``CommandFailure`` if a directory does not exist or the list can't be read.
    init(
        _ tree: TreeOptions, store: StoreOptions, list: String? = nil, separator: UInt8 = 10, shard: Shard? = nil
    ) throws {
        roots = tree.sources.map { Data($0.utf8) }
        listed = try list.map { try Self.paths(from: $0, separator: separator) } ?? []
        filter = PathFilter(include: tree.include.all(), exclude: tree.exclude.all())
        leavingOut = [store.directory, tree.output.map { URL(filePath: $0) }].compactMap {
            $0.map { Data($0.path(percentEncoded: false).utf8) }
        }
        self.shard = shard
        for root in roots {
            do {
                _ = try DirectoryWalk(root)
            } catch {
                guard case .invalidSource(let reason) = error else {
                    throw CommandFailure(error.message, status: .usage)
                }
                throw CommandFailure("'\(root.displayPath)' can't be read: \(reason).", status: .usage)
            }
        }
    }

    /// Calls `body` with every file, in a stable order.
    func forEach(_ body: (FoundEntry) async throws -> Void) async throws {
        for path in listed + roots {
            var walk: DirectoryWalk
            do throws(AttachmentError) {
                walk = try DirectoryWalk(path, filter: filter, leavingOut: leavingOut, watch: watch)
            } catch {
                try await give(.refused(ResultLine(path: path, refused: error, skipped: false)), to: body)
                continue
            }
            let prefix = prefix(of: path)
            while let entry = walk.next() {
                try Task.checkCancellation()
                if let file = Self.entry(entry, beneath: walk.root.path, as: prefix, shard: shard) {
                    try await give(file, to: body)
                }
            }
        }
    }

    /// Positions in a tree are not stable, so another machine that continues starts from the beginning.
    func forEachPage(from position: String?, _ body: (FoundPage) async throws -> Bool) async throws {
        struct Ended: Error {}
        let walk = UUID().uuidString.lowercased()
        var page = FoundPage(entries: [], start: position, end: position, isFirst: true, isLast: false)
        var pages = 0
        func turn(isLast: Bool) async throws {
            pages += 1
            page.end = "\(walk) \(pages)"
            page.isLast = isLast
            guard try await body(page) else { throw Ended() }
            page = FoundPage(entries: [], start: page.end, end: page.end, isFirst: false, isLast: false)
        }
        do {
            try await forEach { entry in
                if page.entries.count == FoundPage.size { try await turn(isLast: false) }
                page.entries.append(entry)
            }
            try await turn(isLast: true)
        } catch is Ended {}
    }

    private func give(_ entry: FoundEntry, to body: (FoundEntry) async throws -> Void) async throws {
        if isWanted?(entry) ?? true { try await body(entry) }
    }

    /// The decoders that the first file probably needs, by any name in the directory.
    var decoderSet: DecoderSet {
        guard let first = arguments.first else { return .common }
        return DecoderSet(declaredType: nil, name: Self.anyName(in: first) ?? first.displayPath)
    }

    /// Returns the name of a file that isn't hidden; `nil` if there is none, or if the path is not a directory.
    private static func anyName(in directory: Data) -> String? {
        let path = FilePath(bytes: directory)
        guard let opened = try? Files.open(path, .readOnly, .directory, to: "look into a directory") else { return nil }
        var found: String?
        try? Files.forEachName(in: opened) { name in
            if name.first != UInt8(ascii: ".") { found = String(decoding: name, as: UTF8.self) }
            return found == nil
        }
        return found
    }

    /// The prefix of reported paths under `argument`; empty for a single directory.
    private func prefix(of argument: Data) -> Data {
        let slash = Data("/".utf8)
        if listed.isEmpty && roots.count == 1 { return Data() }
        guard Files.isDirectory(FilePath(bytes: argument)) else {
            // A file is reported by its last component, so its directory is the prefix.
            return argument.lastIndex(of: slash[0]).map { Data(argument[...$0]) } ?? Data()
        }
        return argument.last == slash[0] ? argument : argument + slash
    }

    private static func entry(_ entry: WalkEntry, beneath root: Data, as prefix: Data, shard: Shard?) -> FoundEntry? {
        switch entry {
        case .file(let path, let state):
            guard shard?.contains(path) ?? true else { return nil }
            let start = path.lastIndex(of: UInt8(ascii: "/")).map { path.index(after: $0) } ?? path.startIndex
            let name = Data(path[start...])
            return .source(
                FoundSource(
                    location: .file(root: root, path: path, state: state), bytes: state.bytes, name: name.displayPath,
                    shown: prefix + path, identity: root + Data("/".utf8) + path))
        case .skipped(let path, let kind):
            guard shard?.contains(path) ?? true else { return nil }
            return .refused(
                ResultLine(path: prefix + path, refused: .invalidSource(reason: kind.clause), skipped: true))
        case .unreadable(let path, let reason):
            return .refused(ResultLine(path: prefix + path, refused: .invalidSource(reason: reason), skipped: false))
        }
    }

    private static func paths(from file: String, separator: UInt8) throws -> [Data] {
        let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        guard let data = try handle?.readToEnd() ?? (handle == nil ? nil : Data()) else {
            throw CommandFailure("the list '\(file)' can't be read: \(SystemErrorText.current).", status: .usage)
        }
        return data.split(separator: separator, omittingEmptySubsequences: true).map { Data($0) }
    }
}
