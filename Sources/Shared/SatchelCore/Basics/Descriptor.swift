import Glibc

/// Owns an open file descriptor and closes it at the end of its life.
public struct Descriptor: ~Copyable, Sendable {
    /// The number the kernel gave; valid as long as the owner lives.
    public let number: Int32

    /// Takes over an open descriptor.
    public init(owning number: Int32) {
        precondition(number >= 0, "not an open descriptor")
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Gives the descriptor up without closing it.
    public consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// A second descriptor for the same open file, closed on exec.
    public borrowing func duplicate() throws(SystemError) -> Descriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError("duplicate a descriptor") }
        return Descriptor(owning: copy)
    }
}

/// What the kernel answered to a call that failed.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being done, as an infinitive: `open the spool file`.
    public var action: String
    /// The value of `errno`.
    public var code: Int32

    /// - Parameter code: The current `errno` where it is left out.
    public init(_ action: String, code: Int32? = nil) {
        self.code = code ?? errno
        self.action = action
    }

    public var description: String {
        "cannot \(action): \(reason)"
    }

    /// The kernel's word for the code, such as `No space left on device`.
    public var reason: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// No room for bytes or for names: the disk, the quota or the inodes are used up.
    public var isOutOfSpace: Bool {
        code == ENOSPC || code == EDQUOT
    }

    /// The process, its user or the machine lacks processes, threads, open files or memory. That says nothing about a
    /// file.
    public var isShortage: Bool {
        [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOBUFS, ETOOMANYREFS].contains(code)
    }
}
