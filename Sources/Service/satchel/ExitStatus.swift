import API
import SatchelCore
import CodecPool
import S3
import Stores

/// The exit statuses of all commands. The help, the man pages and the documentation list them.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case unavailable = 3
    case notFound = 4
    case interrupted = 130

    var meaning: String {
        switch self {
        case .done: "success"
        case .failed: "sources failed now, or a check found a problem"
        case .usage: "wrong usage or settings"
        case .unavailable: "the store, disk, database, network or a system limit does not allow it now: try again"
        case .notFound: "there is no such record or token"
        case .interrupted: "interrupted: run the command again to continue"
        }
    }

    /// All statuses in a sentence.
    static var list: String {
        "Exit status: " + allCases.map { "\($0.rawValue) for \($0.meaning)" }.joined(separator: "; ") + "."
    }
}

extension AttachmentError {
    /// The exit status of a command that it ends.
    var status: ExitStatus {
        switch code {
        case .storeFailed, .storeFull, .queueFull, .rateLimited, .fetchFailed, .fetchTimeout: .unavailable
        case .notInStore: .notFound
        case .invalidSource: .usage
        default: .failed
        }
    }
}

extension StoreError {
    /// The exit status of a command that it ends.
    var status: ExitStatus {
        switch self {
        case .inaccessible, .full, .noRoom, .malformed, .unreachableDatabase, .database, .inUse, .busy: .unavailable
        default: .usage
        }
    }
}

extension CommandFailure {
    init(_ error: AttachmentError) {
        self.init(error.message, status: error.status)
    }

    init(_ error: StoreError) {
        self.init(error.description, status: error.status)
    }

    init(_ error: CodecPoolError) {
        let isPassing = if case .outOfResources = error { true } else { false }
        self.init(error.description, status: isPassing ? .unavailable : .failed)
    }

    /// - Parameter subject: The setting or the place that can't be used.
    init(_ error: S3Error, of subject: String) {
        let reason = if case .invalidSetting("blobs", _, let need) = error { need } else { error.reason }
        self.init("\(subject) can't be used: \(reason).", status: error.isPassing ? .unavailable : .usage)
    }
}
