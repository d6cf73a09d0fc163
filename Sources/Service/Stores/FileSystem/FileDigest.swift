internal import SatchelCore
internal import Crypto
internal import Platform
internal import SystemPackage

/// Hashes of files that lie outside of a store.
public enum FileDigest {
    private static let piece: Int64 = 1 << 20

    /// The SHA-256 of a file, in hexadecimal digits; nil where there is none.
    public static func sha256(ofFile path: String) throws -> String? {
        let path = FilePath(path)
        guard try Files.facts(of: path) != nil else { return nil }
        let file = try Files.open(path, .readOnly, to: "read '\(path)'")
        var (hash, offset) = (SHA256(), Int64(0))
        while true {
            let read = try Files.read(offset..<offset + piece, of: file)
            guard !read.isEmpty else { return hash.finalize().hexadecimal }
            hash.update(data: read)
            offset += Int64(read.count)
        }
    }
}
