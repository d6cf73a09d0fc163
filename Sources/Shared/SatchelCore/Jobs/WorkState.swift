/// Where a job or an attachment stands.
public enum WorkState: String, Hashable, Sendable, Codable, CaseIterable {
    case pending
    case running
    case delivered
    case failed
    case cancelled

    /// No transition leads out of a finished state.
    public var isFinished: Bool {
        switch self {
        case .pending, .running: false
        case .delivered, .failed, .cancelled: true
        }
    }
}

/// What a job does with attachments that fail.
public enum JobMode: String, Hashable, Sendable, Codable, CaseIterable {
    /// Delivers what it can.
    case lenient
    /// All or nothing.
    case strict
}

/// Which jobs are claimed first.
public enum JobPriority: String, Hashable, Sendable, Codable, CaseIterable {
    case interactive
    case bulk
}
