/// What payloads of one tenant's firings are made of, beside the notifications themselves, as it is at one instant.
public struct FiringMaterials: Hashable, Sendable {
    /// Those that prepare media.
    public var jobs: [JobID: JobRecord] = [:]
    /// Those that were prepared before.
    public var attachments: [AttachmentID: AttachmentRecord] = [:]
    public var categories: [String: Category] = [:]

    public init() {}

    /// Of these, what is named.
    public func named(_ names: Names) -> FiringMaterials {
        var named = FiringMaterials()
        for id in names.jobs { named.jobs[id] = jobs[id] }
        for id in names.attachments { named.attachments[id] = attachments[id] }
        for id in names.categories { named.categories[id] = categories[id] }
        return named
    }

    /// What is read for a firing; what isn't there any more is left out.
    public struct Names: Hashable, Sendable {
        public var jobs: Set<JobID> = []
        public var attachments: Set<AttachmentID> = []
        public var categories: Set<String> = []

        public init() {}

        public var isEmpty: Bool { jobs.isEmpty && attachments.isEmpty && categories.isEmpty }

        /// - Parameters:
        ///   - job: That prepares its media.
        ///   - ready: What was prepared of them before, by identifier.
        public init(_ submission: NotificationSubmission, job: JobID?, ready: [String: AttachmentID]) {
            if let job { jobs = [job] }
            attachments = Set(submission.media.compactMap(\.attachment)).union(ready.values)
            // No other text is a category's id.
            if let category = submission.category, category.isClientID { categories = [category] }
        }

        /// Of the firing that comes next.
        public init(_ notification: NotificationRecord) {
            self.init(notification.submission, job: notification.job, ready: notification.media.ready)
        }

        /// Of one that was begun.
        public init(_ firing: Firing) {
            self.init(firing.notification.submission, job: firing.record.job, ready: firing.record.ready)
        }

        public mutating func formUnion(_ other: Names) {
            jobs.formUnion(other.jobs)
            attachments.formUnion(other.attachments)
            categories.formUnion(other.categories)
        }
    }
}
