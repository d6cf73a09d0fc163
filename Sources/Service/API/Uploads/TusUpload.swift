import SatchelCore
import FoundationEssentials
import HTTPServer
import HTTPTypes
import Hummingbird
import Jobs

/// An upload by tus 1.0.0 (https://tus.io/protocols/resumable-upload) with the extensions ``extensions``.
struct TusUpload: Sendable {
    static let version = "1.0.0"
    static let extensions = [
        "creation", "creation-with-upload", "creation-defer-length", "expiration", "termination", "checksum",
    ]
    /// What a body of bytes is declared as.
    private static let bytesType = "application/offset+octet-stream"

    let exchange: UploadExchange

    /// - Parameter method: The request's, or the one that it says is meant.
    func answer(_ method: HTTPRequest.Method) async throws -> Response {
        do {
            switch method {
            case .head: return try await head()
            case .patch: return try await patch()
            case .post: return try await create(at: exchange.request.uri.path)
            case .delete:
                try await exchange.service.uploads.cancel(exchange.upload)
                return Response(status: .noContent, headers: Self.fields)
            default: throw Problem.methodNotAllowed
            }
        } catch {
            throw Self.problem(error)
        }
    }

    // MARK: What is asked

    private func head() async throws -> Response {
        let record = try await exchange.service.uploads.settled(exchange.upload, finishing: true)
        guard record.state.isKnown else { throw Problem.notFound }
        var fields = Self.fields
        fields.append(contentsOf: UploadExchange.facts(of: record))
        if let length = record.length {
            fields[.uploadLength] = "\(length)"
        } else {
            fields[.uploadDeferLength] = "1"
        }
        if let metadata = record.terms.metadata { fields[.uploadMetadata] = metadata }
        fields[.uploadExpires] = Self.expiry(of: record)
        fields[.cacheControl] = "no-store"
        return Response(status: .ok, headers: fields)
    }

    private func patch() async throws -> Response {
        guard exchange.header(.contentType) == Self.bytesType else { throw Self.wrongType }
        guard let offset = exchange.header(.uploadOffset).flatMap(Self.count) else {
            throw Problem.invalid("Upload-Offset", "Required: the offset at which the body continues the upload.")
        }
        var append = UploadAppend(
            offset: offset, length: try Self.length(exchange.request, longest: exchange.longest),
            longest: exchange.longest)
        // A whole upload may be asked once more for its last answer.
        let upload = exchange.upload
        if upload.state != .open, upload.offset == offset, IncomingBody.announced(by: exchange.request) ?? 0 == 0 {
            return appended(upload)
        }
        append.checksum = try Self.checksum(exchange.request)
        return appended(try await exchange.append(append, limit: exchange.limit(of: append.checksum)))
    }

    private func appended(_ record: UploadRecord) -> Response {
        var fields = Self.fields
        fields.append(contentsOf: UploadExchange.facts(of: record))
        fields[.uploadExpires] = Self.expiry(of: record)
        return Response(status: .noContent, headers: fields)
    }

    /// Creates the upload that is there already.
    ///
    /// - Parameter location: Its URL.
    func create(at location: String) async throws -> Response {
        let creation = try Self.creation(exchange.request, longest: exchange.longest)
        let type = exchange.header(.contentType)
        let hasBody = IncomingBody.announced(by: exchange.request).map { $0 > 0 } ?? (type == Self.bytesType)
        guard !hasBody || type == Self.bytesType else { throw Self.wrongType }
        var append = UploadAppend(
            offset: 0, length: creation.length, longest: exchange.longest, description: creation.description)
        if !hasBody { append.offset = try await exchange.service.uploads.settled(exchange.upload).offset }
        append.checksum = try Self.checksum(exchange.request)
        let record = try await exchange.append(append, limit: exchange.limit(of: append.checksum))
        var response = appended(record)
        response.status = .created
        response.headers[.location] = location
        return response
    }

    // MARK: How it is said

    /// Whether a request speaks this protocol.
    ///
    /// - Throws: 412 for another version of it, 400 for its headers without a version.
    static func isSpoken(in request: Request) throws(Problem) -> Bool {
        guard let version = request.headers[.tusResumable] else {
            let own: [HTTPField.Name] = [.uploadDeferLength, .uploadMetadata, .uploadConcat, .uploadChecksum]
            guard own.contains(where: { request.headers[$0] != nil }) else { return false }
            throw .invalid("Tus-Resumable", "Required for tus. Must be '\(Self.version)'.")
        }
        guard version == Self.version else {
            throw Problem(
                .preconditionFailed, "unsupported_version", "The tus version is not supported. Use \(Self.version).",
                headers: [.tusVersion: Self.version, .tusResumable: Self.version, .connection: "close"])
        }
        return true
    }

    /// What `OPTIONS` tells.
    ///
    /// - Parameter longest: Bytes of an upload.
    static func abilities(longest: Int64) -> HTTPFields {
        [
            .tusResumable: version, .tusVersion: version, .tusExtension: extensions.joined(separator: ","),
            .tusMaxSize: "\(longest)",
            .tusChecksumAlgorithm: BodyChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: ","),
        ]
    }

    static let fields: HTTPFields = [.tusResumable: version]

    /// An upload as its creation words it.
    struct Creation: Sendable {
        var length: Int64?
        var description: UploadDescription
    }

    static func creation(_ request: Request, longest: Int64) throws -> Creation {
        guard request.headers[.uploadConcat] == nil else {
            throw Problem.invalid(
                "Upload-Concat", "Must be omitted. Uploads cannot be concatenated; send the file as one upload.")
        }
        let length = try length(request, longest: longest)
        if let deferred = request.headers[.uploadDeferLength] {
            guard deferred == "1", length == nil else {
                throw Problem.invalid("Upload-Defer-Length", "Must be '1', and only without Upload-Length.")
            }
        } else if length == nil {
            throw Problem.invalid("Upload-Length", "Required, unless the request has 'Upload-Defer-Length: 1'.")
        }
        let metadata = request.headers[.uploadMetadata]
        let pairs = try metadata.map(Self.pairs) ?? [:]
        let type = pairs["filetype"] ?? pairs["type"]
        return Creation(
            length: length,
            description: UploadDescription(
                name: (pairs["filename"] ?? pairs["name"]).flatMap(FileName.cleaned),
                typeHint: ReceivedPart.declared(type), metadata: metadata?.isEmpty ?? true ? nil : metadata))
    }

    /// `Upload-Metadata`: `filename d29ybGQ=,is_confidential`.
    static func pairs(_ text: String) throws(Problem) -> [String: String] {
        let problem = Problem.invalid(
            "Upload-Metadata", "Must be pairs of a unique name and a value in base64, with at most 4096 bytes.")
        guard text.utf8.count <= 4096 else { throw problem }
        var pairs: [String: String] = [:]
        for pair in text.split(separator: ",") {
            let parts = pair.trimmingSpace().split(separator: " ", omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty, parts.count <= 2,
                let value = parts.count == 2 ? Data(base64Encoded: String(parts[1])) : Data(),
                pairs.updateValue(String(decoding: value, as: UTF8.self), forKey: String(name)) == nil
            else { throw problem }
        }
        return pairs
    }

    private static func length(_ request: Request, longest: Int64) throws(Problem) -> Int64? {
        guard let text = request.headers[.uploadLength] else { return nil }
        guard let length = count(text) else {
            throw .invalid("Upload-Length", "Must be a whole number of bytes.")
        }
        guard length <= longest else { throw .tooLong(longest) }
        return length
    }

    /// `sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=`
    private static func checksum(_ request: Request) throws(Problem) -> BodyChecksum? {
        guard let text = request.headers[.uploadChecksum] else { return nil }
        let parts = text.split(separator: " ")
        guard parts.count == 2, let digest = Data(base64Encoded: String(parts[1])),
            let algorithm = BodyChecksum.Algorithm(rawValue: String(parts[0]))
        else {
            let known = BodyChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid(
                "Upload-Checksum",
                "Must be an algorithm and a checksum in base64. The algorithm must be one of \(known).")
        }
        return BodyChecksum(algorithm, Array(digest))
    }

    private static func count(_ text: String) -> Int64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return Int64(text)
    }

    private static func expiry(of record: UploadRecord) -> String {
        DateText.text(of: Int(record.expiresAt.milliseconds / 1000))
    }

    private static let wrongType = Problem(
        .unsupportedMediaType, "unsupported_media_type", "Send the body as '\(bytesType)'.",
        headers: [.connection: "close"])

    /// An error as tus wants it answered.
    static func problem(_ error: any Error) -> Problem {
        var problem: Problem
        switch error as? UploadFailure {
        case .otherChecksum?:
            problem = Problem(.otherChecksum)
            problem.status = HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch")
        case .refused(.tooLong)?:
            problem = Problem(
                .contentTooLarge, "body_too_large",
                "More bytes arrived than announced. Send exactly the announced number.",
                headers: [.connection: "close"])
        case .refused(.ended(.complete))?, .refused(.ended(.consumed))?:
            problem = Problem(.refused(.ended(.complete)))
            problem.status = .conflict
        case let failure?: problem = Problem(failure)
        case nil: problem = Problem(describing: error)
        }
        problem.headers.append(contentsOf: fields)
        return problem
    }
}
