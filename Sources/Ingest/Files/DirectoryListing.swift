import Attachments
import Glibc

/// The names in a directory, in the order of their bytes.
enum DirectoryListing {
    /// The `limit` smallest names greater than `last`, or all of those that are left; `.` and `..` never.
    static func names(
        of directory: borrowing Descriptor, after last: [UInt8]? = nil, atMost limit: Int = .max
    ) throws(AttachmentError) -> [[UInt8]] {
        let copy: Int32
        do {
            copy = try directory.duplicate().release()
        } catch {
            throw .storeFailed(reason: "the system \(error)")
        }
        guard let stream = unsafe fdopendir(copy) else {
            close(copy)
            throw .invalidSource(reason: "the system \(SystemError("read a directory"))")
        }
        defer { unsafe closedir(stream) }
        // The copy shares its position with the original.
        unsafe rewinddir(stream)

        var names: [[UInt8]] = []
        func keepSmallest() {
            names.sort { compare($0, $1) < 0 }
            if names.count > limit { names.removeLast(names.count - limit) }
        }
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else {
                    throw .invalidSource(reason: "the system \(SystemError("read a directory"))")
                }
                break
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: UInt8.self, capacity: 256) { start in
                    unsafe Array(
                        UnsafeBufferPointer(
                            start: start, count: strnlen(UnsafePointer<CChar>(OpaquePointer(start)), 256)))
                }
            }
            guard name != [UInt8(ascii: ".")], name != [UInt8(ascii: "."), UInt8(ascii: ".")] else { continue }
            if let last, compare(last, name) >= 0 { continue }
            names.append(name)
            if names.count / 2 >= limit { keepSmallest() }
        }
        keepSmallest()
        return names
    }

    /// Negative where `left` comes first. In C, for a directory may hold millions of names.
    private static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let common = unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                // Names are never empty, so both have an address.
                guard let one = left.baseAddress, let other = right.baseAddress else { return Int32(0) }
                return unsafe memcmp(one, other, min(left.count, right.count))
            }
        }
        return common != 0 ? Int(common) : left.count - right.count
    }
}
