import SatchelCore
import CodecPool
import Foundation
import Ingest
import Jobs

/// A file or object found by a batch.
struct FoundSource: Sendable {
    var location: SourceLocation
    var bytes: Int64
    var name: String
    /// The path as reported. For a file, it is relative to the given directory, or starts with it if there are several. For an
    /// object, it is the key without the prefix.
    var shown: Data
    /// The absolute path of a file or the URL of an object.
    var identity: Data

    /// ``shown`` as text, as records have it.
    var path: String { String(validating: shown, as: UTF8.self) ?? shown.displayPath }

    /// The key by which earlier work on the source is found.
    func workKey(under profileDigest: String) -> String {
        switch location {
        case .file(_, _, let state): WorkKey.of(path: identity, state: state, profileDigest: profileDigest)
        case .object(let bucket, let key, let state):
            WorkKey.of(bucket: bucket, key: key, state: state, profileDigest: profileDigest)
        case .url, .spool: preconditionFailure("a batch finds files and objects")
        }
    }

    func job(under profile: Profile, _ profileDigest: String, run: RunID) -> JobSubmission {
        let attachment = AttachmentSubmission(
            identifier: shown.displayPath, location: location, name: name,
            path: path,
            declaredType: MediaType(declared: URL(filePath: name).pathExtension)?.rawValue)
        return JobSubmission(
            tenant: .local, profile: profile, priority: .bulk, run: run, workKey: workKey(under: profileDigest),
            attachments: [attachment])
    }
}

enum FoundEntry: Sendable {
    case source(FoundSource)
    /// The result line of an entry that is not processed.
    case refused(ResultLine)
}

/// A page of the entries that a batch finds, for machines that share the run.
struct FoundPage: Sendable {
    var entries: [FoundEntry]
    /// The positions of the page, as in ``RunPage``.
    var start: String?
    var end: String?
    var isFirst: Bool
    var isLast: Bool

    /// The maximum number of entries.
    static let size = 1000
}

/// The sources of a batch.
protocol SourceSupply: Sendable {
    /// The decoders that the first source probably needs.
    var decoderSet: DecoderSet { get }

    /// Calls `body` with every source, in a stable order.
    func forEach(_ body: (FoundEntry) async throws -> Void) async throws

    /// Calls `body` with each page after a position until it returns `false`. If the supply has no stable positions, it starts
    /// from the beginning.
    func forEachPage(from position: String?, _ body: (FoundPage) async throws -> Bool) async throws
}
