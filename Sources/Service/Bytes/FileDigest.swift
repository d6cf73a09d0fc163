internal import SatchelCore
internal import Platform
internal import SystemPackage

/// Hashes of files that lie outside of a store.
public enum FileDigest {
    /// The SHA-256 of a file, in hexadecimal digits; nil where there is none.
    public static func sha256(ofFile path: String) throws -> String? {
        let path = FilePath(path)
        guard try Files.facts(of: path) != nil else { return nil }
        return try Files.digest(of: try Files.open(path, .readOnly, to: "read '\(path)'")).sha256
    }
}
