public import Foundation

/// A submission, and what became of it.
public struct Job: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var state: WorkState
    /// How many attachments are in each state.
    public var counts: [String: Int]
    public var profile: String
    public var mode: JobRequest.Mode
    public var metadata: [String: String]
    public var createdAt: Date
    public var deadlineAt: Date?
    public var finishedAt: Date?
    /// In the order in which they were submitted.
    public var attachments: [Attachment]
    /// Nil where nobody is to be called, and in what the callback itself sends.
    public var callback: Callback?

    /// How far the call is that tells of the job's end.
    public struct Callback: Hashable, Sendable, Decodable {
        /// `waiting`, `delivered` or `failed`.
        public var state: String
        /// Attempts that were begun.
        public var attempts: Int
        /// When the next attempt is due; nil where none is.
        public var nextAt: Date?
        /// Why the last attempt was not the end, or the end was a failure.
        public var reason: String?
    }
}

/// One source and what became of it.
public struct Attachment: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    /// Yours, unique in its job.
    public var identifier: String
    public var state: WorkState
    public var fidelity: Fidelity?
    public var kind: MediaKind?
    /// The rendition to show.
    public var best: RenditionRole?
    public var source: SourceFacts
    public var renditions: [RenditionRole: Rendition]
    public var options: DisplayOptions
    public var trim: TrimReport?
    /// Height ÷ width of the rendition to show.
    public var contentSizeRatio: Double?
    public var placeholder: Placeholder?
    /// What the URLs of the renditions hold on to; nil once it has ended.
    public var lease: OpenedLease?
    public var steps: [Step]
    public var expiresAt: Date?
    public var error: ErrorReport?

    /// The rendition to show.
    public var bestRendition: Rendition? { best.flatMap { renditions[$0] } }
}

/// An attachment on its own.
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

/// One derived file.
public struct Rendition: Hashable, Sendable, Decodable {
    public var uti: String
    public var mediaType: String
    public var width: Int?
    public var height: Int?
    /// Seconds.
    public var duration: TimeInterval?
    public var bytes: Int64
    /// Lower-case hexadecimal.
    public var sha256: String
    /// Where a plain GET reads it, while the job's lease lives.
    public var url: URL?
    /// With what it is encrypted: then bytes and hash are the ciphertext's. Nil where it isn't.
    public var encryption: Encryption?
}

/// What was handed in. Sizes are upright.
public struct SourceFacts: Hashable, Sendable, Decodable {
    public var name: String?
    public var bytes: Int64?
    public var width: Int?
    public var height: Int?
    /// Seconds.
    public var duration: TimeInterval?
    /// The type hint, else the origin's Content-Type, else the extension's.
    public var declaredType: String?
    public var sniffedType: String?
    /// The one that counts.
    public var decodedType: String?
}

/// What a notification is to do with the attachment: the counterparts of `UNNotificationAttachment`'s options. The
/// rectangle and the time refer to the rendition.
public struct DisplayOptions: Hashable, Sendable, Decodable {
    /// A UTI.
    public var typeHint: String?
    public var thumbnailHidden: Bool
    public var thumbnailClippingRect: UnitRect?
    /// Seconds, or a frame number for an animation.
    public var thumbnailTime: TimeInterval?
}

/// The cut that was made, in seconds.
public struct TrimReport: Hashable, Sendable, Decodable {
    public var start: TimeInterval
    public var duration: TimeInterval
    public var sourceDuration: TimeInterval
    /// `copy`, `smart` or `encode`.
    public var method: String
}

/// What to show until the bytes are there.
public struct Placeholder: Hashable, Sendable, Decodable {
    /// Base64 of the ThumbHash.
    public var thumbhash: String?
    public var blurhash: String?
    /// `#rrggbb`.
    public var color: String?
    /// Of a sound: loudness, 0…255.
    public var peaks: [UInt8]?
}

/// The lease or, where delivery is shared, the link that a job's URLs hold on to.
public struct OpenedLease: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var expiresAt: Date
}

/// One stage of the way of a source, and why it came out so.
public struct Step: Hashable, Sendable, Decodable {
    public var name: String
    public var seconds: TimeInterval
    public var note: String?
}

/// Why an attachment was not delivered.
public struct ErrorReport: Hashable, Sendable, Decodable {
    public var code: SatchelError.Code
    /// For the sender: what to do differently.
    public var message: String
    /// The matching code of `UNError`.
    public var unError: Int?
    public var retryable: Bool
}

/// A part of a list.
public struct Page<Element: Sendable>: Sendable {
    public var elements: [Element]
    /// Where the next page starts; nil at the end.
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
