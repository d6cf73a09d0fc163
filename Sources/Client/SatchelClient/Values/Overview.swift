public import Foundation

/// A tenant's figures. Links, grants, notifications and calls are counted up to 10,000: then there may be more.
public struct Overview: Hashable, Sendable, Decodable {
    /// Within how many seconds half of them, and all but one in twenty, were done; nil where there were none.
    public struct Times: Hashable, Sendable, Decodable {
        public var p50: TimeInterval?
        public var p95: TimeInterval?
    }

    /// Attachments that came to their end in a minute or an hour, with how long they waited and were worked on.
    public struct Ends: Hashable, Sendable, Decodable {
        /// When that begins.
        public var at: Date
        public var delivered: Int
        public var failed: Int
        public var cancelled: Int
        public var waiting: Times
        public var work: Times
    }

    /// What there is, and how much there may be; nil for any amount.
    public struct Used: Hashable, Sendable, Decodable {
        public var used: Int64
        public var quota: Int64?
    }

    public struct Calls: Hashable, Sendable, Decodable {
        /// That are tried again.
        public var failing: Int
        /// That were given up.
        public var failed: Int
    }

    public var at: Date
    /// All of the last hour.
    public var hour: Ends
    /// The last 60, the latest last.
    public var minutes: [Ends]
    /// Attachments that failed within the hour, by code.
    public var codes: [String: Int]
    public var storedBytes: Used
    public var unfinishedJobs: Used
    public var leases: Used
    public var links: Int
    public var grants: Int
    /// That fire within the next hour.
    public var notificationsDue: Int
    public var calls: Calls
    /// Nil for keys that are no administrator's.
    public var service: ServiceFigures?
}

/// The whole service, for administrators.
public struct ServiceFigures: Hashable, Sendable, Decodable {
    public struct Check: Hashable, Sendable, Decodable {
        public var name: String
        public var ready: Bool
        /// What is wrong.
        public var detail: String?
        /// What to do about it.
        public var advice: String?
    }

    public struct Lane: Hashable, Sendable, Decodable {
        public var lane: String
        public var pending: Int
        public var running: Int
        /// Seconds since the oldest that is due became so; nil where none waits.
        public var oldest: TimeInterval?
    }

    public var ready: Bool
    public var checks: [Check]
    public var lanes: [Lane]
    /// Codec processes of the node that answered which did not end by themselves, by cause, since it began.
    public var codecDeaths: [String: Int]
    /// Where that node receives sources and stages outputs.
    public var freeBytes: Int64?
    public var blobBytes: Int64
    public var leases: Int
    public var links: Int
    public var grants: Int
    public var callsPending: Int
}

/// Attachments that failed with one code and cause, and are still there.
public struct FailureGroup: Hashable, Sendable, Decodable {
    public var code: SatchelError.Code
    /// The cause, if the fetch failed; otherwise `nil`.
    public var cause: FetchCause?
    /// Up to 10,000: then there may be more.
    public var count: Int
    /// Whether the latest could come to something else when tried again.
    public var retryable: Bool
    /// Of the latest: what happened, and what to do.
    public var message: String
    public var firstAt: Date
    public var lastAt: Date
    public var kinds: [MediaKind]
    /// The latest that it happened to, at most 5.
    public var jobs: [String]
}

/// What became of the wish to try all jobs again that failed with a code.
public struct RetryCounts: Hashable, Sendable, Decodable {
    /// Pending again.
    public var accepted: Int
    /// Of which is no longer kept what they were made from: submit them again.
    public var forgotten: Int
    /// Where the jobs are that the service has not looked at.
    var next: String?
}

/// A grant, a lease or a link; nothing of it opens anything.
public struct AccessEntry: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    /// `grant`, `lease` or `link`.
    public var kind: String
    /// The grant that it was derived from.
    public var parentID: String?
    /// Nil: all.
    public var renditions: [RenditionRole]?
    /// Of a grant: live leases at most.
    public var leaseLimit: Int?
    /// `private` or `shared`.
    public var delivery: String
    /// Started by its job when that delivered.
    public var byJob: Bool
    public var createdAt: Date
    public var expiresAt: Date
    /// Time of the stop or revocation.
    public var endedAt: Date?

    private enum CodingKeys: String, CodingKey {
        case id, kind, renditions, leaseLimit, delivery, byJob, createdAt, expiresAt, endedAt
        // As the decoder turns `parent_id`.
        case parentID = "parentId"
    }
}

/// A call of the service to a receiver: a job's callback, or another message.
public struct OutgoingCall: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    /// What it tells of, such as `job.finished`.
    public var type: String
    /// The job, or what a message tells of.
    public var subject: String?
    public var url: String
    /// `waiting`, `delivered`, `failed` or `cancelled`.
    public var state: String
    public var attempts: Int
    public var nextAt: Date?
    /// Why the last attempt was not the end, or the end was a failure.
    public var reason: String?
    /// Of the last ten attempts, in their order.
    public var answers: [Answer]
    public var createdAt: Date
    public var finishedAt: Date?

    /// What came of one attempt.
    public struct Answer: Hashable, Sendable, Decodable {
        /// 1 for the first; counted anew when the call is replayed.
        public var attempt: Int
        public var at: Date
        public var seconds: TimeInterval
        /// Nil where there was no answer.
        public var status: Int?
        /// Why it wasn't the end, or the end was a failure.
        public var reason: String?
        /// The first bytes of the answer's body.
        public var body: String?
    }
}

struct FailureList: Decodable {
    var groups: [FailureGroup]
}

struct RetryBody: Encodable {
    var code: SatchelError.Code
    var since: String?
    var cursor: String?
}

struct AccessList: Decodable {
    var access: [AccessEntry]
    var next: String?
}

struct CallList: Decodable {
    var calls: [OutgoingCall]
    var next: String?
}
