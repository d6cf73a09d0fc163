import SatchelCore
import Foundation
import Ingest
import S3

/// A bucket and a prefix of keys, for sources or outputs: `s3://bucket/prefix`.
struct BucketLocation: Hashable, Sendable, CustomStringConvertible {
    var bucket: String
    /// Empty, or ending in a slash. It may contain any characters.
    var prefix: String

    private static let scheme = "s3://"

    /// Fails if the text does not start with `s3://`.
    init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        let parts = text.utf8.dropFirst(Self.scheme.utf8.count).split(
            separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        bucket = String(decoding: parts[0], as: UTF8.self)
        prefix = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
        if !prefix.isEmpty, prefix.utf8.last != UInt8(ascii: "/") { prefix += "/" }
    }

    var description: String { Data("\(Self.scheme)\(bucket)/\(prefix)".utf8).displayPath }

    /// Whether the other location is within this one.
    func contains(_ other: BucketLocation) -> Bool {
        bucket == other.bucket && other.prefix.utf8.starts(with: prefix.utf8)
    }

    /// Returns a client with the settings `s3.*` and the credentials of the store's bucket.
    ///
    /// - Throws: ``CommandFailure``.
    func client() throws -> S3Client {
        do throws(S3Error) {
            return try S3Client(
                StoreOptions.configured.bucket.configuration(
                    of: Self.scheme + bucket, ProcessInfo.processInfo.environment))
        } catch {
            throw failure(error)
        }
    }

    func failure(_ error: S3Error) -> CommandFailure {
        CommandFailure(error, of: "'\(self)'")
    }
}
