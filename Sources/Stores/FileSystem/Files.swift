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
