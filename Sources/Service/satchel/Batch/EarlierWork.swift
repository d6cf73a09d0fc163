import SatchelCore
import Foundation
import Jobs
import Stores

/// What a store knows of files under a profile, as the profile is and as it was.
struct EarlierWork {
    enum Verdict {
        case new
        /// Done, or failed where that isn't tried again.
        case unchanged
        /// Done under a profile of the same name that is another now.
        case profileChanged
    }

    /// Nil where there is no store yet.
    private let store: Store?
    private let retryFailed: Bool
    private let digest: String
    private let formerDigests: [String]

    /// Makes no store.
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
