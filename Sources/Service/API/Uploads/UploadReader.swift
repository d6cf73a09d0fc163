import SatchelCore
import HTTPTypes
import Payloads

/// An upload as the client worded it.
struct UploadRequest: Sendable {
    var length: Int64?
    var name: String?
    var typeHint: String?
    var sha256: String?
    /// Seconds.
    var ttl = Self.defaultLife
    var job: SubmissionRequest?
    var callback: String?

    static let defaultLife = 86_400.0
    /// Seconds: a minute to a week.
    static let lives = 60.0...604_800.0
}

/// Reads what uploads are opened with, and tells everything that is wrong at once.
struct UploadReader {
    private static let fields = ["length", "name", "type_hint", "sha256", "ttl", "job", "callback"]

    private var submissions: SubmissionReader
    private let longest: Int64

    /// - Parameter id: What the job of the upload calls `self`.
    init(_ service: Service, id: UploadID) {
        submissions = SubmissionReader(service)
        submissions.ownUpload = id
        longest = service.settings.limits.clipBytes
    }

    /// - Throws: A problem that names every field which can't be taken.
    func upload(_ body: some Sequence<UInt8>) throws(Problem) -> UploadRequest {
        let errors = submissions.errors
        let reader = try FieldReader(body: body, known: Self.fields, errors)
        var request = UploadRequest()
        request.length = reader.integer("length", in: 0...Int(Int64.max >> 1)).map { Int64($0) }
        request.name = reader.string("name", bytes: 1...255).flatMap(FileName.cleaned)
        request.typeHint = reader.string("type_hint", bytes: 1...128)
        request.sha256 = Self.sha256(reader)
        request.ttl = reader.number("ttl", in: UploadRequest.lives) ?? UploadRequest.defaultLife
        if let job = reader.object("job", known: SubmissionReader.jobFields) {
            let wording = submissions.submission(job, hasParts: false)
            if !wording.attachments.contains(where: { if case .upload = $0.source { true } else { false } }) {
                job.addError("attachments", "Must contain the upload. Give one attachment \"upload\": \"self\".")
            }
            request.job = wording
        }
        request.callback = submissions.callback(reader)
        try errors.check()
        if let length = request.length, length > longest { throw .tooLong(longest) }
        return request
    }

    private static func sha256(_ reader: FieldReader) -> String? {
        guard let text = reader.string("sha256", bytes: 1...128) else { return nil }
        guard text.utf8.count == 64, text.allSatisfy(\.isHexDigit) else {
            reader.addError("sha256", "Must be 64 hexadecimal digits.")
            return nil
        }
        return text.lowercased()
    }
}

extension Problem {
    /// - Parameter limit: Of an upload.
    static func tooLong(_ limit: Int64) -> Problem {
        Problem(
            .contentTooLarge, "source_too_large", "The upload is too large. It can have at most \(limit) bytes.",
            headers: [.connection: "close"])
    }
}
