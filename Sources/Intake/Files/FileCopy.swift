public import Attachments
import CSandbox
import Glibc

/// Copies all of `source`, from its start, to the end of `target`, inside the kernel.
///
/// - Returns: The bytes that were copied.
@discardableResult
public func copyFile(
    _ source: borrowing Descriptor, to target: borrowing Descriptor
) throws(SystemError) -> Int64 {
    guard lseek(source.number, 0, SEEK_SET) == 0 else { throw SystemError("read a file from its start") }
    var bytes: Int64 = 0
    while true {
        let copied = csandbox_copy_range(source.number, target.number, 1 << 30)
        if copied < 0 && errno == EINTR { continue }
        guard copied >= 0 else { throw SystemError("copy a file") }
        if copied == 0 { return bytes }
        bytes += Int64(copied)
    }
}
