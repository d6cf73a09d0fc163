public import SatchelCore
package import SystemPackage
internal import Platform
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Stages files without a name (`O_TMPFILE`) where the file system can have them so and name them later, else under one
/// in its directory.
public struct FileStagingArea: StagingArea {
    let directory: FilePath
    /// Where sources are received.
    private let scratch: FilePath
    private let way: Way

    /// - Parameters:
    ///   - directory: On the file system of the store that takes the files.
    ///   - scratch: Where ``ScratchFile``s with names ending in ``unfinished`` may be left as well.
    ///   - needsName: Whether nothing but names is tried.
    package init(directory: FilePath, scratch: FilePath, needsName: Bool = false) {
        self.directory = directory
        self.scratch = scratch
        way = Way(needsName: needsName)
    }

    /// What the name of a file ends in that is being received.
    static let unfinished = ".part"

    public func stage() throws(AttachmentError) -> StagedFile {
        do {
            if !way.needsName, let file = stageUnnamed() { return file }
            let path = newPath
            let writer = try Files.open(
                path, .readWrite, [.create, .exclusiveCreate, .noFollow], permissions: .ownerRead, to: "stage a file")
            let reader = try Files.open(path, .readOnly, to: "open a staged file for reading")
            return StagedFile(writer: writer, file: ScratchFile(reader: reader, path: path.string))
        } catch {
            throw AttachmentError(error)
        }
    }

    private var newPath: FilePath { directory.appending(UUID().uuidString.lowercased()) }

    /// Nil where it can't be, and a name will do: not every file system has unnamed files, and some have them without the
    /// second half, a link that gives them a name. Of what else is wrong the named file tells.
    private func stageUnnamed() -> StagedFile? {
        do {
            // Of a file of its own: one that had a name and lost it never gets another.
            try way.tryOnce { () throws(SystemError) in
                let trial = try Files.open(directory, .readWrite, .unnamed, permissions: .ownerRead, to: "stage a file")
                let path = newPath
                guard Files.link(trial, to: path) == 0 else { return false }
                return try Files.remove(path)
            }
            guard !way.needsName else { return nil }
            let writer = try Files.open(directory, .readWrite, .unnamed, permissions: .ownerRead, to: "stage a file")
            let reader = try Files.reopenForReading(writer)
            return StagedFile(writer: writer, file: ScratchFile(reader: reader))
        } catch {
            return nil
        }
    }

    public var inMemory: any StagingArea { MemoryStagingArea(scratch: scratch) }

    /// By a trial with a file that nobody writes any more.
    public var provesClosing: Bool {
        way.hasLeases {
            do {
                var trial = try stage()
                do { _ = trial.takeWriter() }
                try Files.proveNoWriterIsLeft(trial.file.reader)
                return true
            } catch {
                return false
            }
        }
    }

    public func close(
        _ file: ScratchFile, expecting bytes: Int64, writersAreDead: Bool
    ) async throws(AttachmentError) -> HashedFile {
        try await BlockingWork.run { () throws(AttachmentError) in
            let provesClosing = provesClosing
            if !provesClosing && !writersAreDead {
                throw AttachmentError.storeFailed(reason: "its file system can't tell whether an output is closed")
            }
            return try file.closed(expecting: bytes, provingIt: provesClosing)
        }
    }

    public func removeAbandoned(
        where isOld: @escaping @Sendable (Duration) -> Bool
    ) async throws(AttachmentError) -> Int {
        try await BlockingWork.files { () throws(SystemError) in
            try Files.removeAll(in: directory) { isOld($1) }
                + Files.removeAll(in: scratch) { name, age in
                    guard name.hasSuffix(Self.unfinished) else { return false }
                    // A process that was killed holds nothing any more.
                    return isOld(age) || age > untilHeld && !Files.isHeld(scratch.appending(name))
                }
        }
    }

    /// A file that is being received is held after this time.
    var untilHeld: Duration = .seconds(60)

    public func freeBytes() async throws(AttachmentError) -> Int64 {
        try await BlockingWork.files { () throws(SystemError) in try Files.freeBytes(at: directory) }
    }

    public func scratchSize() async throws(AttachmentError) -> Int64 {
        try await BlockingWork.files { () throws(SystemError) in try Files.size(ofFileSystemAt: scratch) }
    }
}

/// What the file system can do, as trials tell that are made once.
private final class Way: Sendable {
    private enum Naming {
        case untried
        case unnamed
        case named
    }

    private let naming: Mutex<Naming>
    private let leases = Mutex<Bool?>(nil)

    init(needsName: Bool) {
        naming = Mutex(needsName ? .named : .untried)
    }

    var needsName: Bool { naming.withLock { $0 == .named } }

    /// Whether there are read leases.
    func hasLeases(_ trial: () -> Bool) -> Bool {
        leases.withLock { known in
            if let known { return known }
            let answer = trial()
            known = answer
            return answer
        }
    }

    /// Settles the way by a trial, unless it is settled; one that throws settles nothing.
    func tryOnce(_ works: () throws(SystemError) -> Bool) throws(SystemError) {
        try naming.withLock { naming throws(SystemError) in
            if naming == .untried { naming = try works() ? .unnamed : .named }
        }
    }
}
