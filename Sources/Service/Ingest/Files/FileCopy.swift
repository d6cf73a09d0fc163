public import SatchelCore
import CSandbox
import Glibc

/// Why a file was not copied, and which of the two it is due to.
public enum CopyFailure: Error, Hashable, Sendable {
    case source(SystemError)
    case target(SystemError)

    public var cause: SystemError {
        switch self {
        case .source(let error), .target(let error): error
        }
    }
}

/// Copies all of `source`, from its start, to the end of `target`: inside the kernel, which shares extents where it can,
/// as far as it does that, and through memory from there on.
///
/// The kernel doesn't copy between two file systems, from some networks or into a pipe, and what surrounds the program
/// may refuse it the call. Whatever else is wrong, the copy through memory meets it again, and knows which file it is.
///
/// - Returns: The bytes that were copied.
@discardableResult
public func copyFile(
    _ source: borrowing Descriptor, to target: borrowing Descriptor
) throws(CopyFailure) -> Int64 {
    guard lseek(source.number, 0, SEEK_SET) == 0 else { throw .source(SystemError("read a file from its start")) }
    let inKernel = copyInKernel(source, to: target)
    // Also where the kernel met an end: on some file systems it says so of files that have bytes.
    return inKernel + (try copyThroughMemory(source, to: target))
}

/// - Returns: The bytes that were copied when the kernel did no more.
private func copyInKernel(_ source: borrowing Descriptor, to target: borrowing Descriptor) -> Int64 {
    var bytes: Int64 = 0
    while true {
        let copied = csandbox_copy_range(source.number, target.number, 1 << 30)
        if copied < 0 && errno == EINTR { continue }
        guard copied > 0 else { return bytes }
        bytes += Int64(copied)
    }
}

private func copyThroughMemory(
    _ source: borrowing Descriptor, to target: borrowing Descriptor
) throws(CopyFailure) -> Int64 {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { unsafe piece.deallocate() }
    var bytes: Int64 = 0
    while true {
        let count = unsafe read(source.number, piece.baseAddress, piece.count)
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw .source(SystemError("read a file")) }
        if count == 0 { return bytes }
        var rest = unsafe piece[..<count]
        while unsafe !rest.isEmpty {
            let slice = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let written = unsafe write(target.number, slice.baseAddress, slice.count)
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw .target(SystemError("write a file")) }
            unsafe rest = rest.dropFirst(written)
        }
        bytes += Int64(count)
    }
}
