public import Foundation

/// Something that happened to a job.
public struct JobEvent: Sendable, Hashable {
    public enum What: Sendable, Hashable {
        /// The job as it is when it begins to be followed.
        case job(Job)
        case accepted
        /// An attempt has begun; 1 for the first.
        case started(attempt: Int)
        /// A stage of an attachment has ended: `fetch`, `identify`, `commit`.
        case stage(attachment: String, Step)
        /// Bytes that a fetch has received so far, and in all where that is known.
        case progress(attachment: String, received: Int64, total: Int64?)
        /// A rendition was made. It can be read when the job is delivered.
        case rendition(attachment: String, MadeRendition)
        /// It will be tried again.
        case postponed
        /// The end.
        case finished(Job)
        /// Something that this library doesn't know.
        case other(String)
    }

    /// Where to resume; nil for what needs no place.
    public var id: String?
    public var what: What
}

/// A rendition that was just made.
public struct MadeRendition: Sendable, Hashable, Decodable {
    public var role: RenditionRole
    public var mediaType: String
    public var width: Int?
    public var height: Int?
    /// Seconds.
    public var duration: TimeInterval?
    public var bytes: Int64
    /// Seconds that making it took.
    public var seconds: TimeInterval
    /// Why it came out so.
    public var note: String
}

extension JobEvent {
    private struct Start: Decodable {
        var attempt: Int
    }

    /// What tells the attachment.
    private struct Place: Decodable {
        // As the decoder turns `attachment_id`.
        var attachmentId: String
    }

    private struct Progress: Decodable {
        var received: Int64
        var total: Int64?
    }

    init(_ event: ServerEvent) throws {
        id = event.id
        let data = Data(event.data.utf8)
        func attachment() throws -> String { try Wire.decode(Place.self, from: data).attachmentId }
        what =
            switch event.name {
            case "job": .job(try Wire.decode(Job.self, from: data))
            case "accepted": .accepted
            case "started": .started(attempt: try Wire.decode(Start.self, from: data).attempt)
            case "stage": .stage(attachment: try attachment(), try Wire.decode(Step.self, from: data))
            case "progress":
                try {
                    let progress = try Wire.decode(Progress.self, from: data)
                    return .progress(
                        attachment: try attachment(), received: progress.received, total: progress.total)
                }()
            case "rendition":
                .rendition(attachment: try attachment(), try Wire.decode(MadeRendition.self, from: data))
            case "postponed": .postponed
            case "finished": .finished(try Wire.decode(Job.self, from: data))
            default: .other(event.name)
            }
    }
}
