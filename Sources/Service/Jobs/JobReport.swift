public import SatchelCore
import Platform

/// What there is to log about a job that came to its end here.
public struct JobReport: Hashable, Sendable, Encodable {
    public struct Attachment: Hashable, Sendable, Encodable {
        public var id: AttachmentID
        public var state: WorkState
        @Nullable public var kind: MediaKind?
        @Nullable public var fidelity: Fidelity?
        @Nullable public var code: ErrorCode?
        /// Of the source.
        @Nullable public var bytes: Int64?
    }

    public var job: JobID
    public var tenant: TenantID
    public var state: WorkState
    public var profile: String
    public var priority: JobPriority
    /// Nil for a job that was cancelled, wherever it was then.
    @Nullable public var lane: JobLane?
    public var generation: Int
    public var attempt: Int
    /// Of the submission; nil where it came otherwise than over HTTP.
    @Nullable public var traceparent: String?
    public var attachments: [Attachment]
    /// Seconds by the name of the stage, summed over the attachments.
    public var stages: [String: Double]
    /// Seconds from acceptance to this attempt's claim; nil for a job that was cancelled.
    @Nullable public var queueSeconds: Double?
    /// Seconds of this attempt; nil for a job that was cancelled.
    @Nullable public var workSeconds: Double?
    /// Seconds from acceptance to the end.
    public var seconds: Double

    init(_ record: JobRecord, _ claim: Claim, claimedAt: Instant) {
        self.init(record)
        lane = claim.lane
        attempt = claim.attempt
        traceparent = claim.submission.traceparent
        let end = record.finishedAt ?? .wallClock()
        // A clock that was set back makes no time negative.
        queueSeconds = max(0, (claimedAt - record.createdAt).inSeconds)
        workSeconds = max(0, (end - claimedAt).inSeconds)
    }

    /// What the record alone tells.
    init(_ record: JobRecord) {
        job = record.id
        tenant = record.tenant
        state = record.state
        profile = record.profile
        priority = record.priority
        generation = record.generation
        attempt = record.attempt
        attachments = record.attachments.map {
            Attachment(
                id: $0.id, state: $0.state, kind: $0.kind, fidelity: $0.fidelity, code: $0.error?.code,
                bytes: $0.source.bytes)
        }
        stages = [:]
        for step in record.attachments.flatMap(\.steps) where step.isStage {
            stages[step.name, default: 0] += step.seconds
        }
        seconds = max(0, ((record.finishedAt ?? .wallClock()) - record.createdAt).inSeconds)
    }

    /// Counts the job for ``JobMetrics``.
    func count(steps: [Step]) {
        JobMetrics.count("jobs_finished_total", [("state", state.rawValue), ("lane", lane?.rawValue ?? "none")])
        if let lane, let queueSeconds {
            JobMetrics.time("job_seconds", seconds, [("lane", lane.rawValue)])
            JobMetrics.time("queue_seconds", queueSeconds, [("lane", lane.rawValue)])
        }
        for attachment in attachments {
            JobMetrics.count(
                "attachments_finished_total",
                [
                    ("state", attachment.state.rawValue), ("kind", attachment.kind?.rawValue ?? "none"),
                    ("fidelity", attachment.fidelity?.rawValue ?? "none"),
                    ("code", attachment.code?.rawValue ?? "none"),
                ])
        }
        for step in steps where step.isStage { JobMetrics.time("stage_seconds", step.seconds, [("stage", step.name)]) }
    }
}

extension Step {
    /// Whether it took time: what is only told has none.
    fileprivate var isStage: Bool {
        ![Step.warnings, Step.note, Step.loss, Step.options, Step.fidelity].contains(name)
    }
}
