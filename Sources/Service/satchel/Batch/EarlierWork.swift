import SatchelCore
import Foundation
import Jobs
import Stores

/// The results that a store has for files under a profile, in its current and earlier versions.
struct EarlierWork {
    enum Verdict {
        case new
        /// Delivered, or refused and not to be retried.
        case unchanged
        /// Delivered under an earlier version of the profile.
        case profileChanged
    }

    /// `nil` if there is no store yet.
    private let store: Store?
    private let retryFailed: Bool
    private let digest: String
    private let formerDigests: [String]
    private let passing: Set<String>

    /// Opens the store if it exists.
    init(_ options: StoreOptions, profile: Profile, retryFailed: Bool) async throws {
        let isThere =
            switch options.location {
            case .memory: false
            case .directory(let path): FileManager.default.fileExists(atPath: path + "/records.sqlite")
            case .database: true
            }
        store = isThere ? try await openStore(options) : nil
        self.retryFailed = retryFailed
        passing = if let store { try await Self.passing(in: store) } else { [] }
        let digest = try profile.digest
        self.digest = digest
        formerDigests =
            try await store?.records.profiles(named: profile.name).map { try $0.digest }.filter { $0 != digest } ?? []
    }

    /// Returns what earlier runs made of each source.
    func verdicts(on sources: [FoundSource]) async throws -> [Verdict] {
        guard let records = store?.records else { return sources.map { _ in .new } }
        let keys = sources.map { source in ([digest] + formerDigests).map(source.workKey) }
        let states = try await records.states(ofWork: keys.flatMap(\.self), of: .local)
        return zip(sources, keys).map { source, keys in
            switch states[keys[0]] {
            case .delivered: .unchanged
            case .failed: retryFailed || passing.contains(source.path) ? .new : .unchanged
            default: keys.contains { states[$0] == .delivered } ? .profileChanged : .new
            }
        }
    }

    /// The paths of files that failed for another reason than their bytes.
    private static func passing(in store: Store) async throws -> Set<String> {
        var paths: Set<String> = []
        try await Page.forEach {
            try await store.records.attachments(
                of: .local, where: RecordFilter(state: .failed), after: $0, limit: 500)
        } _: { attachment in
            if let error = attachment.error, !error.code.isVerdict, let path = attachment.source.path {
                paths.insert(path)
            }
        }
        return paths
    }
}
