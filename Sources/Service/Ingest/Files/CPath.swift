import SatchelCore
public import FoundationEssentials

/// Bytes as the kernel takes a path: NUL at the end, none inside.
struct CPath {
    private let bytes: [CChar]

    /// Nil where a NUL lies inside, which no name on a file system has.
    init?(_ path: some Collection<UInt8>) {
        guard !path.contains(0) else { return nil }
        bytes = path.map(CChar.init(bitPattern:)) + [0]
    }

    /// The pointer is valid inside `body` alone.
    func withPointer<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("a path has its NUL at least") }
            return unsafe body(start)
        }
    }
}

extension Data {
    /// A path's bytes for people: what is not UTF-8 is replaced, what would move the cursor is escaped.
    public var displayPath: String { String(decoding: self, as: UTF8.self).showingInvisible() }
}
