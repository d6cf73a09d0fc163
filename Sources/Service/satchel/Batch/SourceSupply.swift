import SatchelCore
import CodecPool
import Foundation
import Ingest
import Jobs

/// A file or an object that a batch found.
struct FoundSource: Sendable {
    var location: SourceLocation
    var bytes: Int64
    var name: String
    /// The path as it is reported: relative to the directory that was given where it is the only one, else beneath the
    /// directory as it was given, so that no two share one; of an object, its key beneath the prefix.
    var shown: Data
    /// The absolute path, or the URL of the object.
    var identity: Data

    /// What tells that it was done before.
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
            path: String(validating: shown, as: UTF8.self) ?? shown.displayPath,
            declaredType: MediaType(declared: URL(filePath: name).pathExtension)?.rawValue)
        return JobSubmission(
            tenant: .local, profile: profile, priority: .bulk, run: run, workKey: workKey(under: profileDigest),
            attachments: [attachment])
    }
}

enum FoundEntry: Sendable {
    case source(FoundSource)
    /// What is passed over or can't be looked at, as its result line.
    case refused(ResultLine)
}

/// A part of what a batch finds, for machines that share the run.
struct FoundPage: Sendable {
    var entries: [FoundEntry]
    /// What ``RunPage`` has.
    var start: String?
    var end: String?
    var isFirst: Bool
    var isLast: Bool

    /// Entries of one, at most.
    static let size = 1000
}

/// What a batch works through.
protocol SourceSupply: Sendable {
    /// What the first source probably needs.
    var decoderSet: DecoderSet { get }

    /// Calls `body` with every source, in a stable order.
    func forEach(_ body: (FoundEntry) async throws -> Void) async throws

    /// Calls `body` with every page from a position on, or from the beginning where the supply can't be entered in the middle,
    /// until it answers false.
    func forEachPage(from position: String?, _ body: (FoundPage) async throws -> Bool) async throws
}
