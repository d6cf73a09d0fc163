import SatchelCore
import Foundation
import Jobs
import Stores

/// The results that a store has for files under a profile, in its current and earlier versions.
struct EarlierWork {
    enum Verdict {
        case new
        /// Delivered, or failed and not to be retried.
        case unchanged
        /// Delivered under an earlier version of the profile.
        case profileChanged
    }

    /// `nil` if there is no store yet.
    private let store: Store?
    private let retryFailed: Bool
    private let digest: String
    private let formerDigests: [String]

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
        let digest = try profile.digest
        self.digest = digest
        formerDigests =
            try await store?.records.profiles(named: profile.name).map { try $0.digest }.filter { $0 != digest } ?? []
    }

    func verdict(on source: FoundSource) async throws -> Verdict {
        guard let records = store?.records else { return .new }
        let key = source.workKey(under: digest)
        let former = formerDigests.map(source.workKey)
        let states = try await records.states(ofWork: [key] + former, of: .local)
        switch states[key] {
        case .delivered: return .unchanged
        case .failed: return retryFailed ? .new : .unchanged
        default: return former.contains { states[$0] == .delivered } ? .profileChanged : .new
        }
    }
}
