public import Foundation

/// A job: a submission and its results.
public struct Job: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var state: WorkState
    /// The number of attachments in each state.
    public var counts: [String: Int]
    public var profile: String
    public var mode: JobRequest.Mode
    public var metadata: [String: String]
    public var createdAt: Date
    public var deadlineAt: Date?
    public var finishedAt: Date?
    /// The attachments in the order of the submission.
    public var attachments: [Attachment]
    /// The state of the callback; `nil` without a callback, and in the callback's own request.
    public var callback: Callback?

    /// The state of the callback that reports the job's end.
    public struct Callback: Hashable, Sendable, Decodable {
        /// `waiting`, `delivered` or `failed`.
        public var state: String
        /// The number of attempts.
        public var attempts: Int
        /// When the next attempt is due; `nil` if there is none.
        public var nextAt: Date?
        /// Why the last attempt failed.
        public var reason: String?
    }
}

/// One source of a job and its results.
public struct Attachment: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    /// Your identifier, unique in the job.
    public var identifier: String
    public var state: WorkState
    public var fidelity: Fidelity?
    /// The result in words for people: `full`, `page 1 of 1000`, `failed: corrupt`.
    public var result: String?
    /// What was found, left out and lost; `nil` before the source was examined.
    public var diagnosis: Diagnosis?
    public var kind: MediaKind?
    /// The rendition to show.
    public var best: RenditionRole?
    public var source: SourceFacts
    public var renditions: [RenditionRole: Rendition]
    public var options: DisplayOptions
    public var trim: TrimReport?
    /// The height of the rendition to show, divided by its width.
    public var contentSizeRatio: Double?
    public var placeholder: Placeholder?
    /// The lease or link behind the URLs of the renditions; `nil` once it has ended.
    public var lease: OpenedLease?
    public var steps: [Step]
    public var expiresAt: Date?
    public var error: ErrorReport?

    /// The rendition to show.
    public var bestRendition: Rendition? { best.flatMap { renditions[$0] } }
}

/// What a source is, and what was found, left out and lost.
public struct Diagnosis: Hashable, Sendable, Decodable {
    /// One finding: a code with its numbers.
    public struct Finding: Hashable, Sendable, Decodable {
        public var code: String
        public var part: String?
        /// A count, or seconds.
        public var missing: Double?
        public var total: Double?
        public var name: String?
        public var library: String?
    }

    /// A track of a recording.
    public struct Track: Hashable, Sendable, Decodable {
        public var kind: String
        public var coding: String
        public var channels: Int?
        public var language: String?
    }

    /// How far the source was read: `headers`, `structure` or `decoded`.
    public var checked: String
    public var tracks: [Track]
    public var pages: Int?
    public var hasTransparency: Bool
    /// The duration in the header of a truncated recording, in seconds.
    public var announced: Double?
    /// What is wrong with the source, whether or not anything was lost.
    public var evidence: [Finding]
    /// What the profile leaves out.
    public var omissions: [Finding]
    /// What the profile asks for and the renditions lack.
    public var losses: [Finding]
    /// What is otherwise than in the source, although nothing is missing.
    public var changes: [Finding]
}

/// An attachment outside its job.
public struct AttachmentRecord: Hashable, Sendable, Decodable, Identifiable {
    public var jobID: String
    public var createdAt: Date
    public var finishedAt: Date?
    public var attachment: Attachment

    public var id: String { attachment.id }

    private enum CodingKeys: String, CodingKey {
        // As the decoder turns `job_id`.
        case jobID = "jobId"
        case createdAt, finishedAt
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        jobID = try container.decode(String.self, forKey: .jobID)
        createdAt = try container.decode(Date.self, forKey: .createdAt)
        finishedAt = try container.decodeIfPresent(Date.self, forKey: .finishedAt)
        attachment = try Attachment(from: decoder)
    }
}

/// A file made from the source.
public struct Rendition: Hashable, Sendable, Decodable {
    public var uti: String
    public var mediaType: String
    public var width: Int?
    public var height: Int?
    /// Seconds.
    public var duration: TimeInterval?
    public var bytes: Int64
    /// The hash in lowercase hexadecimal.
    public var sha256: String
    /// The URL for a plain GET, which works while the job's lease is active.
    public var url: URL?
    /// The encryption; `nil` if the file is not encrypted. Size and hash are those of the ciphertext.
    public var encryption: Encryption?
}

/// The source as submitted. Width and height are those of the upright picture.
public struct SourceFacts: Hashable, Sendable, Decodable {
    /// The name as submitted, or the last component of the URL.
    public var name: String?
    /// The host of the URL; `nil` for other sources.
    public var host: String?
    public var bytes: Int64?
    public var width: Int?
    public var height: Int?
    /// Seconds.
    public var duration: TimeInterval?
    /// The type hint, the origin's Content-Type, or the type of the extension, in this order.
    public var declaredType: String?
    public var sniffedType: String?
    /// The type found by the decoder, which decides.
    public var decodedType: String?
}

/// How a notification shows the attachment: the counterparts of the options of `UNNotificationAttachment`. The rectangle and
/// the time refer to the rendition.
public struct DisplayOptions: Hashable, Sendable, Decodable {
    /// A UTI.
    public var typeHint: String?
    public var thumbnailHidden: Bool
    public var thumbnailClippingRect: UnitRect?
    /// The time in seconds, or the number of an animation's frame.
    public var thumbnailTime: TimeInterval?
}

/// The part that was kept, in seconds.
public struct TrimReport: Hashable, Sendable, Decodable {
    public var start: TimeInterval
    public var duration: TimeInterval
    public var sourceDuration: TimeInterval
    /// `copy`, `smart` or `encode`.
    public var method: String
}

/// What to show until the rendition is loaded.
public struct Placeholder: Hashable, Sendable, Decodable {
    /// The ThumbHash in base64.
    public var thumbhash: String?
    public var blurhash: String?
    /// `#rrggbb`.
    public var color: String?
    /// The loudness of a sound over time, 0…255.
    public var peaks: [UInt8]?
}

/// The lease or, with shared delivery, the link behind a job's URLs.
public struct OpenedLease: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var expiresAt: Date
}

/// A processing step and its reason.
public struct Step: Hashable, Sendable, Decodable {
    public var name: String
    public var seconds: TimeInterval
    public var note: String?
}

/// Why an attachment was not delivered.
public struct ErrorReport: Hashable, Sendable, Decodable {
    public var code: SatchelError.Code
    /// What the sender can do.
    public var message: String
    /// The matching code of `UNError`.
    public var unError: Int?
    public var retryable: Bool
    /// What kept the origin from returning the file; `nil` for other errors.
    public var cause: FetchCause?
}

/// What kept an origin from returning a file.
public struct FetchCause: Hashable, Sendable, Decodable {
    /// `status`, `dns`, `tls`, `refused`, `unreachable`, `reset`, `redirect`, `too_slow`, `invalid_answer` or `encoding`.
    public var type: String
    /// The status that the origin answered with, if the type is `status`.
    public var status: Int?
}

/// A page of a list.
public struct Page<Element: Sendable>: Sendable {
    public var elements: [Element]
    /// The cursor of the next page; `nil` at the end.
    public var next: String?
}

struct JobList: Decodable {
    var jobs: [Job]
    var next: String?
}

struct AttachmentList: Decodable {
    var attachments: [AttachmentRecord]
    var next: String?
}
