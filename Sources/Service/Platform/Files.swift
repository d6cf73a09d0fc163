package import SatchelCore
import CSandbox
import Glibc
package import SystemPackage

/// Calls of the file system, each throwing what the kernel answered.
///
/// Paths are swift-system's, which keep whatever bytes a name has. Descriptors are our own, which close themselves; what
/// swift-system's can do is done by it.
package enum Files {
    /// Opens a file, closed on exec, again after an interruption.
    package static func open(
        _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions = .noFollow,
        permissions: FilePermissions? = nil, to action: @autoclosure () -> String
    ) throws(SystemError) -> Descriptor {
        Descriptor(
            owning: try call(action()) {
                try FileDescriptor.open(
                    path, mode, options: options.union(.closeOnExec), permissions: permissions
                ).rawValue
            })
    }

    /// Opens what `descriptor` refers to once more, read-only: the copy can't write, whatever the original can.
    package static func reopenForReading(_ descriptor: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try open(descriptor.path, .readOnly, [], to: "open a file for reading")
    }

    package static func size(of descriptor: borrowing Descriptor) throws(SystemError) -> Int64 {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw SystemError("look at a file") }
        return Int64(status.st_size)
    }

    /// A failure is final: the kernel may have dropped the pages, so that a second call would lie.
    package static func sync(
        _ descriptor: borrowing Descriptor, _ what: @autoclosure () -> String
    ) throws(SystemError) {
        guard fsync(descriptor.number) == 0 else { throw SystemError("make \(what()) durable") }
    }

    /// - Returns: Whether there was such a file.
    @discardableResult
    package static func remove(_ path: FilePath) throws(SystemError) -> Bool {
        if unsafe path.withPlatformString({ unsafe unlink($0) }) == 0 { return true }
        guard errno == ENOENT else { throw SystemError("remove '\(path)'") }
        return false
    }

    /// Gives a file another name, in place of whatever had it.
    package static func rename(
        _ path: FilePath, to newPath: FilePath, to action: @autoclosure () -> String
    ) throws(SystemError) {
        let answer = unsafe path.withPlatformString { old in
            unsafe newPath.withPlatformString { unsafe Glibc.rename(old, $0) }
        }
        guard answer == 0 else { throw SystemError(action()) }
    }

    /// Bytes, the time since the inode was last changed (which linking does), and whether it is a regular file; nil where
    /// nothing is at `path`.
    package static func facts(
        of path: FilePath
    ) throws(SystemError) -> (bytes: Int64, age: Duration, isFile: Bool)? {
        var status = stat()
        guard unsafe path.withPlatformString({ unsafe lstat($0, &status) }) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw SystemError("look at '\(path)'") }
            return nil
        }
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let age =
            Duration.seconds(now.tv_sec - status.st_ctim.tv_sec)
            + .nanoseconds(now.tv_nsec - status.st_ctim.tv_nsec)
        return (Int64(status.st_size), age, status.st_mode & S_IFMT == S_IFREG)
    }

    /// Bytes that are free on the file system that `path` is on.
    package static func freeBytes(at path: FilePath) throws(SystemError) -> Int64 {
        try bytes(ofFileSystemAt: path) { UInt64($0.f_bavail) }
    }

    /// Bytes that an ordinary user can have on the file system that `path` is on.
    package static func size(ofFileSystemAt path: FilePath) throws(SystemError) -> Int64 {
        try bytes(ofFileSystemAt: path) { UInt64($0.f_blocks - $0.f_bfree + $0.f_bavail) }
    }

    private static func bytes(
        ofFileSystemAt path: FilePath, _ blocks: (statvfs) -> UInt64
    ) throws(SystemError) -> Int64 {
        var status = statvfs()
        guard unsafe path.withPlatformString({ unsafe statvfs($0, &status) }) == 0 else {
            throw SystemError("look for room at '\(path)'")
        }
        let (bytes, overflow) = blocks(status).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }

    /// Whether a process holds a lock on a file, or that can't be told.
    package static func isHeld(_ path: FilePath) -> Bool {
        guard let file = try? Files.open(path, .readOnly, .noFollow, to: "look at '\(path)'") else { return true }
        return flock(file.number, LOCK_EX | LOCK_NB) != 0
    }

    /// Whether this process may create files in a directory.
    package static func isWritable(_ path: FilePath) -> Bool {
        unsafe path.withPlatformString { unsafe faccessat(AT_FDCWD, $0, W_OK, AT_EACCESS) } == 0
    }

    /// Whether the file system that `path` is on has no room for a few pages, or for another file.
    package static func isFull(at path: FilePath) -> Bool {
        var status = statvfs()
        guard unsafe path.withPlatformString({ unsafe statvfs($0, &status) }) == 0 else { return false }
        return status.f_bavail * status.f_frsize < 1 << 16 || status.f_files > 0 && status.f_favail == 0
    }

    /// Runs a call of swift-system.
    private static func call<Value>(
        _ action: @autoclosure () -> String, _ body: () throws -> Value
    ) throws(SystemError) -> Value {
        do {
            return try body()
        } catch let error as Errno {
            throw SystemError(action(), code: error.rawValue)
        } catch {
            // It throws nothing else.
            throw SystemError(action(), code: EIO)
        }
    }
}

extension Descriptor {
    /// By which the kernel knows the open file, whether it has a name or none.
    package var path: FilePath { FilePath("/proc/self/fd/\(number)") }

    /// The same descriptor to swift-system, which doesn't close it.
    var borrowed: FileDescriptor { FileDescriptor(rawValue: number) }
}

extension FileDescriptor.OpenOptions {
    /// A file without a name in a directory: `O_TMPFILE` of Linux on x86-64 and arm64; the header's macro is too complex to
    /// be imported.
    package static let unnamed = FileDescriptor.OpenOptions(rawValue: 0o20_000_000).union(.directory)
}

extension FilePath {
    /// A path of bytes that need not be UTF-8; it ends at the first zero.
    package init(bytes: some Sequence<UInt8>) {
        self = unsafe (bytes.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return FilePath() }
            return unsafe FilePath(platformString: base)
        }
    }
}

// MARK: Directories

extension Files {
    /// - Returns: Whether it was made; false where it was there.
    @discardableResult
    package static func makeDirectory(
        _ path: FilePath, permissions: FilePermissions = .ownerReadWriteExecute
    ) throws(SystemError) -> Bool {
        if unsafe path.withPlatformString({ unsafe mkdir($0, permissions.rawValue) }) == 0 { return true }
        guard errno == EEXIST else { throw SystemError("make the directory '\(path)'") }
        return false
    }

    /// Makes a directory in another, where there is none: many of them are made without making paths.
    package static func makeDirectory(
        _ name: String, in parent: borrowing Descriptor, permissions: FilePermissions = .ownerReadWriteExecute
    ) throws(SystemError) {
        let answer = unsafe name.withCString { unsafe mkdirat(parent.number, $0, permissions.rawValue) }
        guard answer == 0 || errno == EEXIST else { throw SystemError("make the directory '\(name)'") }
    }

    /// Makes a directory and whatever is missing of the way to it.
    ///
    /// - Parameter durably: Whether their names are synced.
    package static func makeDirectories(
        _ path: FilePath, permissions: FilePermissions = .ownerReadWriteExecute, durably: Bool = true
    ) throws(SystemError) {
        if path.isEmpty || isDirectory(path) { return }
        let parent = path.removingLastComponent()
        try makeDirectories(parent, permissions: permissions, durably: durably)
        try makeDirectory(path, permissions: permissions)
        if durably { try syncDirectory(parent.isEmpty ? "." : parent) }
    }

    /// Whether a directory is there, or a link leads to one.
    package static func isDirectory(_ path: FilePath) -> Bool {
        var status = stat()
        return unsafe path.withPlatformString { unsafe stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes the names in a directory durable.
    package static func syncDirectory(_ path: FilePath) throws(SystemError) {
        let directory = try open(path, .readOnly, .directory, to: "open the directory '\(path)'")
        try sync(directory, "the directory '\(path)'")
    }

    /// Gives the names in a directory to `body`, but for the two that are in each, until it returns false.
    package static func forEachName(
        in directory: borrowing Descriptor, _ body: ([UInt8]) -> Bool
    ) throws(SystemError) {
        let copy = try directory.duplicate().release()
        guard let stream = unsafe fdopendir(copy) else {
            let error = SystemError("read a directory")
            close(copy)
            throw error
        }
        defer { unsafe closedir(stream) }
        // The copy shares its position with the original.
        unsafe rewinddir(stream)
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw SystemError("read a directory") }
                return
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe [UInt8]($0.prefix { $0 != 0 }) }
            if name == [UInt8(ascii: ".")] || name == [UInt8(ascii: "."), UInt8(ascii: ".")] { continue }
            guard body(name) else { return }
        }
    }

    /// The names in a directory, without the two that are in each.
    package static func names(in path: FilePath) throws(SystemError) -> [String] {
        try names(in: try open(path, .readOnly, .directory, to: "read the directory '\(path)'"))
    }

    /// The names in a directory that is in another: many of them are read without making paths.
    package static func names(in name: String, of parent: borrowing Descriptor) throws(SystemError) -> [String] {
        let number = unsafe name.withCString { unsafe openat(parent.number, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard number >= 0 else { throw SystemError("read the directory '\(name)'") }
        return try names(in: Descriptor(owning: number))
    }

    private static func names(in directory: borrowing Descriptor) throws(SystemError) -> [String] {
        var names: [String] = []
        try forEachName(in: directory) {
            names.append(String(decoding: $0, as: UTF8.self))
            return true
        }
        return names
    }

    /// Removes what is in a directory, by name and age.
    ///
    /// - Returns: How many.
    package static func removeAll(
        in directory: FilePath, where isToGo: (String, Duration) -> Bool
    ) throws(SystemError) -> Int {
        var count = 0
        for name in try names(in: directory) {
            let path = directory.appending(name)
            guard let facts = try facts(of: path), isToGo(name, facts.age) else { continue }
            if try remove(path) { count += 1 }
        }
        return count
    }
}

// MARK: Bytes

extension Files {
    /// Up to `range.count` bytes from where the range begins.
    package static func read(_ range: Range<Int64>, of file: borrowing Descriptor) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let source = file.borrowed
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            do throws(SystemError) {
                while count < range.count {
                    let rest = unsafe UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    let offset = range.lowerBound + Int64(count)
                    let got = try call("read a file") {
                        unsafe try source.read(fromAbsoluteOffset: offset, into: rest)
                    }
                    guard got > 0 else { return }
                    count += got
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of `bytes` where the descriptor stands.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to file: borrowing Descriptor, to action: @autoclosure () -> String
    ) throws(SystemError) {
        let target = file.borrowed
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let slice = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let count = try call(action()) { unsafe try target.write(slice) }
            unsafe rest = rest.dropFirst(count)
        }
    }

    private static func write(
        _ bytes: [UInt8], to file: borrowing Descriptor, at path: FilePath
    ) throws(SystemError) {
        // Its closure throws untyped.
        let outcome = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in unsafe try write(bytes, to: file, to: "write '\(path)'") }
        }
        try outcome.get()
    }

    /// Writes a new file for the owner alone, durably but for its name.
    package static func write(_ bytes: [UInt8], to path: FilePath) throws(SystemError) {
        let file = try open(
            path, .writeOnly, [.create, .exclusiveCreate, .noFollow], permissions: .ownerReadWrite,
            to: "make '\(path)'")
        try write(bytes, to: file, at: path)
        try sync(file, "'\(path)'")
    }

    /// Copies a file, durably but for its name: as a clone, which takes no room, where the file system can. A copy that
    /// fails leaves nothing.
    package static func copy(
        _ source: borrowing Descriptor, to path: FilePath, permissions: FilePermissions = .ownerReadWrite
    ) throws(SystemError) {
        let target = try open(
            path, .writeOnly, [.create, .exclusiveCreate, .noFollow], permissions: permissions, to: "make '\(path)'")
        do throws(SystemError) {
            var next: Int64 = 0
            while next > 0 || csandbox_clone(source.number, target.number) != 0 {
                let piece = try read(next..<next + 1 << 20, of: source)
                if piece.isEmpty { break }
                try write(piece, to: target, at: path)
                next += Int64(piece.count)
            }
            try sync(target, "'\(path)'")
        } catch {
            _ = try? remove(path)
            throw error
        }
    }
}

// MARK: Names

extension Files {
    /// Gives an open file a name; one that had a name and lost it never gets another.
    ///
    /// - Returns: Zero, or why not, as `errno` says it.
    package static func link(_ file: borrowing Descriptor, to path: FilePath) -> Int32 {
        let answer = unsafe file.path.withPlatformString { source in
            unsafe path.withPlatformString { unsafe linkat(AT_FDCWD, source, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) }
        }
        return answer == 0 ? 0 : errno
    }

    /// Gives a file one more name.
    ///
    /// - Returns: Zero, or why not, as `errno` says it.
    package static func link(_ path: FilePath, to other: FilePath) -> Int32 {
        let answer = unsafe path.withPlatformString { source in
            unsafe other.withPlatformString { unsafe Glibc.link(source, $0) }
        }
        return answer == 0 ? 0 : errno
    }

    /// Makes bytes durable and then their name, without copying any. A failure leaves nothing at `path`.
    ///
    /// - Parameter what: For the error: `a blob`.
    package static func keep(
        _ file: ScratchFile, as path: FilePath, _ what: String
    ) throws(SystemError) {
        try sync(file.reader, what)
        if let name = file.path {
            try rename(FilePath(name), to: path, to: "give \(what) its name")
        } else {
            let code = link(file.reader, to: path)
            guard code == 0 else { throw SystemError("give \(what) its name", code: code) }
        }
        do {
            try syncDirectory(path.removingLastComponent())
        } catch {
            // Whether the name would survive is unknown, so nothing may refer to it.
            _ = try? remove(path)
            throw error
        }
    }

    /// Gives the bytes of an open file a name elsewhere, whole or not at all. It is never a second name of the same file:
    /// what damages one must not damage the other. The bytes are durable, the name not yet.
    ///
    /// - Parameter ending: Of the name that a copy has until it is whole.
    package static func place(
        _ file: borrowing Descriptor, at path: FilePath, unfinished ending: String
    ) throws(SystemError) {
        let part = FilePath(path.string + ending)
        try remove(part)
        try copy(file, to: part, permissions: .ownerRead)
        try rename(part, to: path, to: "give '\(path)' its name")
    }

    /// Whether a file of the same size is at `path` that is not the same file.
    package static func isCopy(_ path: FilePath, of file: borrowing Descriptor) throws(SystemError) -> Bool {
        var (status, own) = (stat(), stat())
        guard unsafe fstat(file.number, &own) == 0 else { throw SystemError("look at a file") }
        guard unsafe path.withPlatformString({ unsafe lstat($0, &status) }) == 0 else { return false }
        return status.st_size == own.st_size && (status.st_ino, status.st_dev) != (own.st_ino, own.st_dev)
    }

    /// Whether the bytes of `file` can be cloned into `directory`.
    package static func canClone(_ file: borrowing Descriptor, into directory: FilePath) -> Bool {
        guard let trial = try? open(directory, .readWrite, .unnamed, permissions: .ownerRead, to: "clone a file") else {
            return false
        }
        return csandbox_clone(file.number, trial.number) == 0
    }
}
