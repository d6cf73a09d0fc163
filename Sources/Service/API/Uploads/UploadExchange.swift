import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPServer
import HTTPTypes
import Hummingbird
import Jobs
import NIOCore

/// A request to an upload's URL: what all protocols have in common.
struct UploadExchange: Sendable {
    let service: Service
    let request: Request
    let context: ServiceContext
    let upload: UploadRecord

    var longest: Int64 { service.settings.limits.clipBytes }

    /// A header's value; nil where it is missing.
    func header(_ name: HTTPField.Name) -> String? { request.headers[name] }

    /// Takes the request's body.
    ///
    /// - Parameters:
    ///   - limit: Of its bytes, where it has one of its own.
    ///   - progress: Told how much of the upload is durable, now and then.
    /// - Throws: What ``UploadService`` throws; a problem where there is no room.
    func append(
        _ append: UploadAppend, limit: Int64? = nil, progress: @escaping @Sendable (Int64) async -> Void = { _ in }
    ) async throws -> UploadRecord {
        let body = try IncomingBody(request, limit: limit ?? .max)
        var append = append
        append.announced = body.announced
        try await service.intake.admitUpload()
        let admitted = body.map { [intake = service.intake] piece in
            try await intake.takeUpload(piece.readableBytes)
            return piece
        }
        return try await service.uploads.append(admitted, to: upload, append, progress: progress)
    }

    /// The checksum of the body by `Content-Digest` (RFC 9530), where it comes with one that is known here.
    var contentDigest: BodyChecksum? {
        header(.contentDigest).flatMap { StructuredField.bytes(of: "sha-256", in: $0) }
            .map { BodyChecksum(.sha256, $0) }
    }

    /// What the headers of a representation say of it (RFC 9110, section 8; RFC 6266; RFC 9530).
    var description: UploadDescription {
        let type = header(.contentType).flatMap { HeaderParameters($0)?.value }
        let name = header(.contentDisposition).flatMap { HeaderParameters($0)?["filename"] }
        let digest = header(.reprDigest).flatMap { StructuredField.bytes(of: "sha-256", in: $0) }
        return UploadDescription(
            name: name.flatMap(FileName.cleaned), typeHint: ReceivedPart.declared(type),
            sha256: digest.map(\.hexadecimal))
    }

    /// A body that is checked lies behind the upload until its end: it has its own limit.
    func limit(of checksum: BodyChecksum?) -> Int64? { checksum == nil ? nil : BodyChecksum.longestBody }

    /// An upload that is whole, as JSON.
    func whole(_ record: UploadRecord, _ fields: HTTPFields = [:]) throws -> Response {
        var fields = fields
        fields.append(contentsOf: Self.facts(of: record))
        if let sha256 = record.sha256, let digest = Data(hexadecimal: sha256) {
            fields[.reprDigest] = "sha-256=:\(digest.base64EncodedString()):"
        }
        return try .json(record.shown, headers: fields)
    }

    /// What every answer about an upload says.
    static func facts(of record: UploadRecord) -> HTTPFields {
        var fields: HTTPFields = [.uploadOffset: "\(record.offset)"]
        if let job = record.submittedJob { fields[.satchelJob] = job.rawValue }
        return fields
    }

    /// Seconds until its URL opens nothing any more.
    func age(of record: UploadRecord) async throws -> Int64 {
        let now = try await service.records.now()
        return max(0, (record.expiresAt - now).components.seconds)
    }
}

extension Problem {
    /// What is told of bytes that aren't taken.
    init(_ failure: UploadFailure) {
        switch failure {
        case .gone: self = .notFound
        case .otherOffset(let record):
            self.init(
                .conflict, "mismatching_upload_offset",
                "The upload's offset is \(record.offset). Get the offset with HEAD and continue from there.",
                headers: UploadExchange.facts(of: record))
            type = Self.uploadTypes + "mismatching-upload-offset"
        case .otherChecksum:
            self.init(
                .unprocessableContent, "checksum_mismatch",
                "The body doesn't match its checksum, so none of it was kept. Send it again.")
        case .refused(let refusal):
            switch refusal {
            case .overtaken:
                self.init(
                    .conflict, "overtaken",
                    "Another request for this upload arrived. Get the offset with HEAD and continue from there."
                )
            case .ended(.complete), .ended(.consumed):
                self.init(.badRequest, "completed_upload", "The upload is complete and accepts no more bytes.")
                type = Self.uploadTypes + "completed-upload"
            case .ended: self = .notFound
            case .otherLength(let length):
                self.init(
                    .badRequest, "inconsistent_upload_length",
                    "The upload has \(length) bytes, but this request gives a different length."
                )
                type = Self.uploadTypes + "inconsistent-upload-length"
            case .tooLong(let length):
                self.init(
                    .badRequest, "inconsistent_upload_length",
                    "More bytes arrived than the announced \(length). Send exactly the announced number.")
                type = Self.uploadTypes + "inconsistent-upload-length"
            case .incomplete:
                self.init(
                    .badRequest, "inconsistent_upload_length",
                    "The request should complete the upload, but bytes are missing. Send them first.")
                type = Self.uploadTypes + "inconsistent-upload-length"
            }
            // The rest of a body that isn't taken isn't read.
            headers[.connection] = "close"
        }
    }

    /// What IANA's list of problem types has of uploads begins with this.
    private static let uploadTypes = "https://iana.org/assignments/http-problem-types#"
}

extension HTTPField.Name {
    static let uploadOffset: Self = "Upload-Offset"
    static let uploadLength: Self = "Upload-Length"
    static let uploadComplete: Self = "Upload-Complete"
    static let uploadIncomplete: Self = "Upload-Incomplete"
    static let uploadLimit: Self = "Upload-Limit"
    static let uploadDraftInteropVersion: Self = "Upload-Draft-Interop-Version"
    static let uploadDeferLength: Self = "Upload-Defer-Length"
    static let uploadMetadata: Self = "Upload-Metadata"
    static let uploadChecksum: Self = "Upload-Checksum"
    static let uploadExpires: Self = "Upload-Expires"
    static let uploadConcat: Self = "Upload-Concat"
    static let tusResumable: Self = "Tus-Resumable"
    static let tusVersion: Self = "Tus-Version"
    static let tusExtension: Self = "Tus-Extension"
    static let tusMaxSize: Self = "Tus-Max-Size"
    static let tusChecksumAlgorithm: Self = "Tus-Checksum-Algorithm"
    static let methodOverride: Self = "X-HTTP-Method-Override"
    static let contentDigest: Self = "Content-Digest"
    static let reprDigest: Self = "Repr-Digest"
    static let satchelJob: Self = "Satchel-Job"
    static let acceptPatch: Self = "Accept-Patch"
    static let forwarded: Self = "Forwarded"
    static let xForwardedFor: Self = "X-Forwarded-For"
}

extension UploadRecord {
    /// An upload as the API shows it. Its job is the one that has it, or will be submitted with it.
    var shown: JSONFields {
        [
            "id": id.rawValue, "state": state, "length": length, "offset": offset, "name": terms.name,
            "typeHint": terms.typeHint, "sha256": sha256 ?? terms.sha256, "job": terms.job?.id.rawValue,
            "usedBy": usedBy, "createdAt": createdAt, "expiresAt": expiresAt, "finishedAt": finishedAt,
            "error": error,
        ]
    }
}
