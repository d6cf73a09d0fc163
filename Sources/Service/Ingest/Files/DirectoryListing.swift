import SatchelCore
import Glibc
import Platform

/// The names in a directory, in the order of their bytes.
enum DirectoryListing {
    /// The `limit` smallest names greater than `last`, or all of those that are left; `.` and `..` never.
    static func names(
        of directory: borrowing Descriptor, after last: [UInt8]? = nil, atMost limit: Int = .max
    ) throws(AttachmentError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        func keepSmallest() {
            names.sort { compare($0, $1) < 0 }
            if names.count > limit { names.removeLast(names.count - limit) }
        }
        do {
            try Files.forEachName(in: directory) { name in
                if let last, compare(last, name) >= 0 { return true }
                names.append(name)
                if names.count / 2 >= limit { keepSmallest() }
                return true
            }
        } catch {
            throw .invalidSource(reason: "the system \(error)")
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
