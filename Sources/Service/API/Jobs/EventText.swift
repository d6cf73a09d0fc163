import SatchelCore
import FoundationEssentials
import Jobs
import NIOCore

/// Events as `text/event-stream` has them.
enum EventText {
    /// The end of a job has the same id wherever and whenever it is told.
    static func endID(_ record: JobRecord) -> String { "end-\(record.generation)" }

    static func event(_ name: String, id: String?, data: Data) -> ByteBuffer {
        var text = ByteBuffer(string: "event: \(name)\n")
        if let id { text.writeString("id: \(id)\n") }
        text.writeString("data: ")
        text.writeBytes(data)
        text.writeString("\n\n")
        return text
    }

    static func event(_ numbered: JobEvents.Numbered) throws -> ByteBuffer {
        let (name, data) = try describe(numbered.event.what, numbered.event.job.rawValue)
        return event(name, id: numbered.id, data: data)
    }

    /// Keeps a connection from looking dead.
    static let comment = ByteBuffer(string: ": still here\n\n")

    private struct JobReference: Encodable {
        var jobId: String
    }

    private struct Start: Encodable {
        var jobId: String
        var attempt: Int
    }

    private struct Stage: Encodable {
        var jobId: String
        var attachmentId: String
        var name: String
        var seconds: Double
        @Nullable var note: String?
    }

    private struct Progress: Encodable {
        var jobId: String
        var attachmentId: String
        var received: Int64
        @Nullable var total: Int64?
    }

    private struct Made: Encodable {
        var jobId: String
        var attachmentId: String
        var role: RenditionRole
        var mediaType: SatchelCore.MediaType
        @Nullable var width: Int?
        @Nullable var height: Int?
        @Nullable var duration: Double?
        var bytes: Int64
        var seconds: Double
        var note: String
    }

    private static func describe(_ what: JobEvent.What, _ job: String) throws -> (String, Data) {
        switch what {
        case .accepted: ("accepted", try JSON.encode(JobReference(jobId: job)))
        case .started(let attempt): ("started", try JSON.encode(Start(jobId: job, attempt: attempt)))
        case .remote(let attempt): ("started", try JSON.encode(Start(jobId: job, attempt: attempt.number)))
        case .stage(let id, let step):
            (
                "stage",
                try JSON.encode(
                    Stage(
                        jobId: job, attachmentId: id.rawValue, name: step.name, seconds: step.seconds,
                        note: step.note))
            )
        case .progress(let id, let received, let total):
            (
                "progress",
                try JSON.encode(
                    Progress(jobId: job, attachmentId: id.rawValue, received: received, total: total))
            )
        case .rendition(let id, let report):
            (
                "rendition",
                try JSON.encode(
                    Made(
                        jobId: job, attachmentId: id.rawValue, role: report.role, mediaType: report.type,
                        width: report.size?.width, height: report.size?.height, duration: report.duration,
                        bytes: report.bytes, seconds: report.seconds, note: report.note))
            )
        case .postponed: ("postponed", try JSON.encode(JobReference(jobId: job)))
        case .finished: ("finished", try JSON.encode(JobReference(jobId: job)))
        }
    }
}
