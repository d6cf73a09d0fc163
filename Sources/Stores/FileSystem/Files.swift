internal import Attachments
internal import Glibc

/// The calls of the file system that the store is made of, each throwing what the kernel answered.
enum Files {
    /// `O_TMPFILE` of Linux on x86-64 and arm64; the header's macro is too complex to be imported.
    static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
    /// `F_SETLEASE` of Linux: `F_LINUX_SPECIFIC_BASE`.
    static let setLease: Int32 = 1024

    static func open(
        _ path: String, _ flags: Int32, mode: mode_t = 0, to action: @autoclosure () -> String
    ) throws(SystemError) -> Descriptor {
        while true {
            let number = unsafe Glibc.open(path, flags | O_CLOEXEC, mode)
            if number >= 0 { return Descriptor(owning: number) }
            if errno != EINTR { throw SystemError(action()) }
        }
    }

    /// Opens what `descriptor` refers to once more, read-only: the copy can't write, whatever the original can.
    static func reopenForReading(_ descriptor: borrowing Descriptor) throws(SystemError) -> Descriptor {
        try open("/proc/self/fd/\(descriptor.number)", O_RDONLY, to: "open a staged file for reading")
    }

    static func size(of descriptor: borrowing Descriptor) throws(SystemError) -> Int64 {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw SystemError("look at a file") }
        return Int64(status.st_size)
    }

    /// A failure is final: the kernel may have dropped the pages, so that a second call would lie.
    static func sync(_ descriptor: borrowing Descriptor, _ what: String) throws(SystemError) {
        guard fsync(descriptor.number) == 0 else { throw SystemError("make \(what) durable") }
    }

    /// Makes the names in a directory durable.
    static func syncDirectory(_ path: String) throws(SystemError) {
        let directory = try open(path, O_RDONLY | O_DIRECTORY, to: "open the directory '\(path)'")
        try sync(directory, "the directory '\(path)'")
    }

    /// - Returns: Whether it was made; false where it was there.
    @discardableResult
    static func makeDirectory(_ path: String) throws(SystemError) -> Bool {
        if unsafe mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw SystemError("make the directory '\(path)'") }
        return false
    }

    /// - Returns: Whether there was such a file.
    @discardableResult
    static func remove(_ path: String) throws(SystemError) -> Bool {
        if unsafe unlink(path) == 0 { return true }
        guard errno == ENOENT else { throw SystemError("remove '\(path)'") }
        return false
    }

    /// The names in a directory, without the two that are in each.
    static func names(in path: String) throws(SystemError) -> [String] {
        guard let directory = unsafe opendir(path) else { throw SystemError("read the directory '\(path)'") }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(directory) else {
                guard errno == 0 else { throw SystemError("read the directory '\(path)'") }
                return names
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    /// Bytes, and the time since the inode was last changed (which linking does); nil where nothing is at `path`.
    static func facts(of path: String) throws(SystemError) -> (bytes: Int64, age: Duration)? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw SystemError("look at '\(path)'") }
            return nil
        }
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let age =
            Duration.seconds(now.tv_sec - status.st_ctim.tv_sec)
            + .nanoseconds(now.tv_nsec - status.st_ctim.tv_nsec)
        return (Int64(status.st_size), age)
    }
}

extension Files {
    /// Gives an open file a name; one that had a name and lost it never gets another.
    ///
    /// - Returns: What the call did; `errno` tells why it failed.
    static func link(_ file: borrowing Descriptor, to path: String) -> Int32 {
        unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file.number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
    }

    /// Makes bytes durable and then their name, without copying any. A failure leaves nothing at `path`.
    ///
    /// - Parameters:
    ///   - directory: The one that `path` is in.
    ///   - what: For the error: `a blob`.
    static func keep(
        _ file: ScratchFile, as path: String, in directory: String, _ what: String
    ) throws(SystemError) {
        try sync(file.reader, what)
        let answer = if let name = file.path { unsafe rename(name, path) } else { link(file.reader, to: path) }
        guard answer == 0 else { throw SystemError("give \(what) its name") }
        do {
            try syncDirectory(directory)
        } catch {
            // Whether the name would survive is unknown, so nothing may refer to it.
            _ = try? remove(path)
            throw error
        }
    }

    /// Writes a new file, durably but for its name.
    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let file = try open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, to: "make '\(path)'")
        try append(bytes[...], to: file, path)
        try sync(file, "'\(path)'")
    }

    private static func append(
        _ bytes: ArraySlice<UInt8>, to file: borrowing Descriptor, _ path: String
    ) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw SystemError("write '\(path)'") }
            rest = rest.dropFirst(count)
        }
    }

    /// Copies a file, durably but for its name; one that fails leaves nothing.
    static func copy(_ source: borrowing Descriptor, to path: String, mode: mode_t = 0o600) throws(SystemError) {
        let target = try open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode, to: "make '\(path)'")
        do throws(SystemError) {
            var next: Int64 = 0
            while true {
                let piece = try read(next..<next + 1 << 20, of: source)
                if piece.isEmpty { break }
                try append(piece[...], to: target, path)
                next += Int64(piece.count)
            }
            try sync(target, "'\(path)'")
        } catch {
            _ = try? remove(path)
            throw error
        }
    }

    /// Gives an open file a name elsewhere, whole or not at all: a second one where there can be one, else that of a copy.
    /// The bytes are durable, the name not yet.
    static func place(_ file: consuming Descriptor, at path: String) throws(SystemError) {
        if link(file, to: path) == 0 || errno == EEXIST { return }
        let part = path + FileStagingArea.unfinished
        try remove(part)
        try copy(file, to: part, mode: 0o400)
        guard unsafe rename(part, path) == 0 else { throw SystemError("give '\(path)' its name") }
    }

    /// Up to `range.count` bytes from where the range begins.
    static func read(_ range: Range<Int64>, of file: borrowing Descriptor) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            while count < range.count {
                let rest = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                let got = unsafe pread(
                    file.number, rest.baseAddress, rest.count, off_t(range.lowerBound + Int64(count)))
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = SystemError("read a file") }
                guard got > 0 else { return }
                count += got
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Removes what is in a directory, by name and age.
    ///
    /// - Returns: How many.
    static func removeAll(
        in directory: String, where isToGo: (String, Duration) -> Bool
    ) throws(SystemError) -> Int {
        var count = 0
        for name in try names(in: directory) {
            let path = directory + "/" + name
            guard let facts = try facts(of: path), isToGo(name, facts.age) else { continue }
            if try remove(path) { count += 1 }
        }
        return count
    }

    /// Bytes that are free on the file system that `path` is on.
    static func freeBytes(at path: String) throws(SystemError) -> Int64 {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { throw SystemError("look for room at '\(path)'") }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }
}

extension AttachmentError {
    /// What a failed call of the file system means for the attachment.
    init(_ error: SystemError) {
        self = error.isOutOfSpace ? .storeFull : .storeFailed(reason: error.description)
    }
}

extension StoreError {
    init(_ error: SystemError, at path: String) {
        self = error.isOutOfSpace ? .full(path: path) : .inaccessible(path: path, reason: error.reason)
    }
}

extension Files {
    /// Makes a directory and, durably, whatever is missing of the way to it.
    static func makeDirectories(_ path: String) throws(SystemError) {
        if try facts(of: path) != nil { return }
        let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        if !parent.isEmpty { try makeDirectories(parent) }
        try makeDirectory(path)
        try syncDirectory(parent.isEmpty ? "/" : parent)
    }
}
