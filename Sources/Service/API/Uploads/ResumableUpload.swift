import SatchelCore
import HTTPServer
import HTTPTypes
import Hummingbird
import Jobs

/// An upload by Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload), in the version that the request says: the
/// upload resource is the URL that the upload is created at.
struct ResumableUpload: Sendable {
    private static let partType = "application/partial-upload"

    let exchange: UploadExchange
    let version: ResumableVersion

    init(_ exchange: UploadExchange) {
        self.exchange = exchange
        version = ResumableVersion(header: exchange.header(.uploadDraftInteropVersion))
    }

    /// Whether a request speaks this protocol.
    static func isSpoken(in request: Request, method: HTTPRequest.Method) -> Bool {
        let names: [HTTPField.Name] = [.uploadDraftInteropVersion, .uploadComplete, .uploadIncomplete, .uploadOffset]
        return names.contains { request.headers[$0] != nil } || [.head, .get, .delete, .patch].contains(method)
    }

    func answer(_ method: HTTPRequest.Method) async throws -> Response {
        do {
            switch method {
            case .head, .get: return try await look()
            case .patch: return try await append()
            case .post, .put: return try await create()
            case .delete:
                try refuseState()
                try await exchange.service.uploads.cancel(exchange.upload)
                return Response(status: .noContent, headers: version.fields)
            default: throw Problem.methodNotAllowed
            }
        } catch {
            if version.endsTooLong, case .refused(.tooLong(let length))? = error as? UploadFailure {
                try await exchange.service.uploads.fail(
                    exchange.upload,
                    .invalidSource(reason: "more bytes arrived than the announced \(length)"))
            }
            throw problem(error)
        }
    }

    // MARK: What is asked

    private func look() async throws -> Response {
        try refuseState()
        let record = try await exchange.service.uploads.settled(exchange.upload)
        guard record.state.isKnown else { throw Problem.notFound }
        var fields = try await self.fields(of: record)
        if version.tellsLength, let length = record.length { fields[.uploadLength] = "\(length)" }
        fields[.cacheControl] = "no-store"
        return Response(status: .noContent, headers: fields)
    }

    /// Begins the upload. One that had begun, whose client lost the answer, is begun anew where nothing has come yet.
    private func create() async throws -> Response {
        guard exchange.header(.uploadOffset).map({ $0 == "0" }) ?? true else {
            throw Problem.invalid("Upload-Offset", "Must be 0 for a new upload. Use PATCH to continue an upload.")
        }
        let completes = version.completes(exchange.request.headers) ?? true
        let record = try await take(
            from: 0, completes: completes, begins: true)
        return try await answer(to: record, completes: completes, created: true)
    }

    private func append() async throws -> Response {
        guard !version.declaresParts || exchange.header(.contentType) == Self.partType else {
            throw Problem(
                .unsupportedMediaType, "unsupported_media_type", "Send the body as '\(Self.partType)'.",
                headers: [.connection: "close", .acceptPatch: Self.partType])
        }
        guard let offset = exchange.header(.uploadOffset).flatMap(StructuredField.count) else {
            throw Problem.invalid("Upload-Offset", "Required: the offset at which the body continues the upload.")
        }
        // In version 3 the last part doesn't say that it is.
        guard let completes = version.completes(exchange.request.headers) ?? (version.saysIncomplete ? true : nil)
        else {
            throw Problem.invalid(
                "Upload-Complete", "Required. Must be ?1 if this request completes the upload, otherwise ?0.")
        }
        let upload = exchange.upload
        if version.replays, completes, upload.state != .open, upload.offset == offset,
            IncomingBody.announced(by: exchange.request) == 0
        {
            return try await answer(to: upload, completes: true, created: false)
        }
        let record = try await take(from: offset, completes: completes, begins: false)
        return try await answer(to: record, completes: completes, created: false)
    }

    private func take(from offset: Int64, completes: Bool, begins: Bool) async throws -> UploadRecord {
        let announced = IncomingBody.announced(by: exchange.request)
        let length = try length(offset: offset, announced: completes ? announced : nil)
        let checksum = exchange.contentDigest
        let informs = self.informs
        if informs, begins { try await inform(in: exchange.upload) }
        return try await exchange.append(
            UploadAppend(
                offset: offset, length: length, longest: exchange.longest, completes: completes, checksum: checksum,
                description: begins ? exchange.description : UploadDescription()),
            limit: exchange.limit(of: checksum)
        ) { [version, exchange] offset in
            guard informs else { return }
            var fields = version.fields
            fields[.uploadOffset] = "\(offset)"
            await Self.inform(fields, exchange)
        }
    }

    /// What the request says of the whole's length, in two ways.
    private func length(offset: Int64, announced: Int64?) throws -> Int64? {
        let told = version.tellsLength ? exchange.header(.uploadLength).flatMap(StructuredField.count) : nil
        let summed = announced.map { offset + $0 }
        if let told, let summed, told != summed { throw UploadFailure.refused(.otherLength(told)) }
        let length = told ?? summed
        if let length, length > exchange.longest { throw Problem.tooLong(exchange.longest) }
        return length
    }

    private func answer(to record: UploadRecord, completes: Bool, created: Bool) async throws -> Response {
        var fields = try await self.fields(of: record)
        if created { fields[.location] = location }
        if record.state != .open { return try exchange.whole(record, fields) }
        return Response(status: created ? .created : version.partial, headers: fields)
    }

    private func refuseState() throws(Problem) {
        guard version.refusesState else { return }
        for name in [.uploadOffset, .uploadComplete, .uploadIncomplete, .uploadLength] as [HTTPField.Name]
        where exchange.header(name) != nil {
            throw .invalid(name.rawName, "Must be omitted in this request.")
        }
    }

    // MARK: How it is said

    private var location: String { "\(exchange.service.settings.publicURL)\(exchange.request.uri.path)" }

    private func fields(of record: UploadRecord) async throws -> HTTPFields {
        var fields = version.fields
        fields.append(contentsOf: UploadExchange.facts(of: record))
        version.setCompleteness(record.state != .open, in: &fields)
        fields[.uploadLimit] = version.limit(
            longest: exchange.longest, rest: try await exchange.age(of: record))
        return fields
    }

    /// Whether interim responses are sent: not to a client that doesn't understand them, nor where a proxy may take the first
    /// for the last.
    private var informs: Bool {
        guard version.informs else { return false }
        switch exchange.service.settings.uploads.interim {
        case .on: return true
        case .off: return false
        case .auto:
            let proxies: [HTTPField.Name] = [.xForwardedFor, .forwarded, .via]
            return !proxies.contains { exchange.header($0) != nil }
        }
    }

    /// Tells where the upload is, so that it can be gone on with.
    private func inform(in record: UploadRecord) async throws {
        var fields = version.fields
        fields[.location] = location
        fields[.uploadLimit] = version.limit(longest: exchange.longest, rest: try await exchange.age(of: record))
        await Self.inform(fields, exchange)
    }

    private static func inform(_ fields: HTTPFields, _ exchange: UploadExchange) async {
        let status = HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported")
        await InterimResponse(HTTPResponse(status: status, headerFields: fields)).send(on: exchange.context.channel)
    }

    private func problem(_ error: any Error) -> Problem {
        var problem: Problem
        if let failure = error as? UploadFailure {
            problem = Problem(failure)
            if case .otherOffset(let record) = failure {
                version.setCompleteness(false, in: &problem.headers)
                if let provided = exchange.header(.uploadOffset).flatMap(StructuredField.count) {
                    problem.offsets = .init(expected: record.offset, provided: provided)
                }
            } else {
                version.setCompleteness(false, in: &problem.headers)
            }
        } else {
            problem = Problem(describing: error)
        }
        problem.headers.append(contentsOf: version.fields)
        return problem
    }
}
