import SatchelCore
import Foundation
import Ingest

/// The result for one file or URL, as written by `--format jsonl`.
struct ResultLine: Sendable {
    enum State: String, Codable, CodingKeyRepresentable, Sendable {
        case delivered, failed, skipped, unchanged
    }

    /// The bytes of the path or URL as given.
    var path: Data
    var state: State
    var fidelity: Fidelity?
    /// What it came to, for people.
    var result: String?
    /// The reason why it was not delivered in full.
    var reason: String?
    /// What the profile omits or decides.
    var notes: [String] = []
    var kind: MediaKind?
    var attachment: AttachmentID?
    var source: SourceFacts
    var renditions: [RenditionRole: Rendition] = [:]
    /// The paths of renditions written by `--output`.
    var files: [RenditionRole: String] = [:]
    var trim: TrimReport?
    var attempt: Int = 1
    var finishedAt: Instant?
    var seconds: Double = 0
    var error: LineError?

    /// The path for people. Invalid UTF-8 is replaced, and control characters are escaped.
    var shownPath: String { path.displayPath }

    /// Whether the result is new. Unchanged files are not, and neither are files that are never opened.
    var isNews: Bool { state != .unchanged && !(state == .skipped && finishedAt == nil) }

    /// Whether the result makes the exit status 1.
    var isFailure: Bool { state == .failed || (state == .unchanged && error.map { !$0.code.isSkipped } ?? false) }
}

extension ResultLine {
    /// The line of a finished attachment.
    init(path: Data, record: AttachmentRecord, attempt: Int, isUnchanged: Bool) {
        self.path = path
        source = record.source
        kind = record.kind
        fidelity = record.fidelity
        result = record.result
        reason = record.steps.last { $0.name == Step.fidelity }?.note
        notes = record.state == .delivered ? record.steps.filter { $0.name == Step.note }.compactMap(\.note) : []
        renditions = record.renditions
        trim = record.trim
        error = record.error.map(LineError.init)
        finishedAt = record.finishedAt
        self.attempt = attempt
        seconds = record.steps.reduce(0) { $0 + $1.seconds }
        attachment = record.state == .delivered ? record.id : nil
        state =
            switch (record.state, record.error?.code) {
            case _ where isUnchanged: .unchanged
            case (.delivered, _): .delivered
            case (_, let code?) where LineError.Code(rawValue: code.rawValue).isSkipped || record.source.bytes == 0:
                .skipped
            default: .failed
            }
    }

    /// The line of a file that was not submitted.
    init(path: Data, refused error: AttachmentError, bytes: Int64? = nil, skipped: Bool) {
        self.path = path
        source = SourceFacts(bytes: bytes)
        self.error = LineError(ErrorReport(error))
        result = Diagnosis.result(nil, error: error.code, diagnosis: nil)
        state = skipped ? .skipped : .failed
    }

    /// Marks the line as failed although its record is stored.
    mutating func fail(_ failure: LineError) {
        state = .failed
        error = failure
        result = "failed: \(failure.code.rawValue.replacing("_", with: " "))"
    }
}

extension JobRecord {
    /// Whether a batch skipped its file: it is not media.
    var isSkipped: Bool {
        priority == .bulk
            && attachments.allSatisfy { $0.error?.code == .unrecognizedType || $0.error != nil && $0.source.bytes == 0 }
    }
}

extension ResultLine: Encodable {
    func encode(to encoder: any Encoder) throws {
        let shownPath: JSONFields =
            String(validating: path, as: UTF8.self).map { ["path": $0] }
            ?? ["pathBase64": path.base64EncodedString()]
        var outputs: [RenditionRole: JSONFields] = [:]
        for (role, rendition) in renditions {
            // The scheme if the rendition is encrypted.
            let encryption: JSONFields = rendition.encryption.map { ["encrypted": $0.scheme] } ?? [:]
            outputs[role] =
                encryption + [
                    "mediaType": rendition.mediaType, "bytes": rendition.bytes, "width": rendition.width,
                    "height": rendition.height, "duration": rendition.duration.map(Quantity.milliseconds),
                    "file": files[role],
                ]
        }
        let input: JSONFields = [
            "mediaType": source.decodedType?.rawValue ?? source.sniffedType, "bytes": source.bytes,
            "width": source.width, "height": source.height,
            "duration": source.duration.map(Quantity.milliseconds),
        ]
        let fields: JSONFields = [
            "state": state, "fidelity": fidelity, "result": result, "diagnosis": source.diagnosis,
            "reason": reason, "notes": notes, "kind": kind, "attachmentId": attachment, "source": input,
            "renditions": outputs, "attempt": attempt, "finishedAt": finishedAt,
            "seconds": Quantity.milliseconds(seconds), "error": error,
        ]
        try (shownPath + fields).encode(to: encoder)
    }
}
