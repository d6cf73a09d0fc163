/// How long what is finished is kept.
public enum Retention {
    /// How long a failed or cancelled job can be tried again: a day.
    public static let retry: Duration = .seconds(86_400)
    /// How long one may ask what became of a call: a week.
    public static let calls: Duration = .seconds(7 * 86_400)
    /// How long is kept how many attachments ended in each minute: 2 days.
    public static let tallies: Duration = .seconds(2 * 86_400)
    /// How long keys are listed that are good no more: 90 days.
    public static let keys: Duration = .seconds(90 * 86_400)
    /// How long one may ask what became of an upload: 30 days.
    public static let uploads: Duration = .seconds(30 * 86_400)
    /// How long the name of a blob that was removed is remembered, so that no delivery refers to it: 30 days. No delivery
    /// is under way for so long.
    public static let tombstones: Duration = .seconds(30 * 86_400)
}

extension JobSubmission {
    /// When what is delivered `now` has outlived its retention; nil for never. The command line's is kept until it is
    /// deleted.
    func expiry(under profile: Profile, from now: Instant) -> Instant? {
        tenant == .local ? nil : profile.retention.map { now + .seconds(fraction: $0) }
    }

    /// When the record of a job that came to nothing `now` has outlived its retention: never before it can't be tried
    /// again any more.
    public func recordExpiry(from now: Instant) -> Instant? {
        expiry(under: profile, from: now).map { max($0, now + Retention.retry) }
    }

    /// Whether another try could come to something else: what a URL leads to may change; bytes that were uploaded stay
    /// what they are, and are worth keeping only where it wasn't they that failed.
    func mayPassLater(after outcomes: [AttachmentOutcome]) -> Bool {
        let isUploaded = attachments.contains { if case .spool = $0.location { true } else { false } }
        return !isUploaded
            || outcomes.contains { outcome in
                guard case .failure(let error) = outcome.result else { return false }
                return !error.code.blamesTheSource
            }
    }

    /// What is kept of it to be tried again: no header for an origin, no key of a source, and of its profile the name, for
    /// the profile is known beside it.
    public var slim: JobSubmission {
        var slim = withoutSecrets
        slim.profile = Profile(name: profile.name)
        return slim
    }

    /// Without what may be credentials for an origin, and without what opens its sources.
    public var withoutSecrets: JobSubmission {
        var submission = self
        for index in attachments.indices {
            if case .url(let url, _) = attachments[index].location {
                submission.attachments[index].location = .url(url, headers: [:])
            }
            submission.attachments[index].encryption = attachments[index].encryption?.withoutKey
        }
        return submission
    }
}
