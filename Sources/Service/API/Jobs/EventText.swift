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
        let (name, fields) = describe(numbered.event.what)
        let job: JSONFields = ["jobId": numbered.event.job.rawValue]
        return event(name, id: numbered.id, data: try JSON.encode(job + fields))
    }

    /// Keeps a connection from looking dead.
    static let comment = ByteBuffer(string: ": still here\n\n")

    private static func describe(_ what: JobEvent.What) -> (name: String, fields: JSONFields) {
        switch what {
        case .accepted: ("accepted", [:])
        case .started(let attempt): ("started", ["attempt": attempt])
        case .remote(let attempt): ("started", ["attempt": attempt.number])
        case .stage(let id, let step):
            (
                "stage",
                ["attachmentId": id.rawValue, "name": step.name, "seconds": step.seconds, "note": step.note]
            )
        case .progress(let id, let received, let total):
            ("progress", ["attachmentId": id.rawValue, "received": received, "total": total])
        case .rendition(let id, let report):
            (
                "rendition",
                [
                    "attachmentId": id.rawValue, "role": report.role, "mediaType": report.type,
                    "width": report.size?.width, "height": report.size?.height, "duration": report.duration,
                    "bytes": report.bytes, "seconds": report.seconds, "note": report.note,
                ]
            )
        case .postponed: ("postponed", [:])
        case .finished: ("finished", [:])
        }
    }
}
