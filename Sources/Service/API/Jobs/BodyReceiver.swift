import SatchelCore
import HTTPTypes
import Hummingbird
import Ingest
import NIOCore
import Platform
import Stores

/// The body of a request, piece by piece, within a limit.
///
/// Throws 413 over the limit, and 400 if the body ends early.
struct IncomingBody: AsyncSequence, Sendable {
    private let body: RequestBody
    private let limit: Int64
    let announced: Int64?

    /// - Throws: 413 at once where the request announces more than the limit.
    init(_ request: Request, limit: Int64) throws(Problem) {
        announced = Self.announced(by: request)
        self.limit = limit
        if let announced, announced > limit { throw Self.tooLarge(limit) }
        body = request.body
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: IncomingBody
        fileprivate var pieces: RequestBody.AsyncIterator
        private var received: Int64 = 0

        fileprivate init(_ body: IncomingBody) {
            self.body = body
            pieces = body.body.makeAsyncIterator()
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            let piece = try await pieces.next(isolation: actor)
            received += Int64(piece?.readableBytes ?? 0)
            guard received <= body.limit else { throw IncomingBody.tooLarge(body.limit) }
            guard piece != nil || received == body.announced ?? received else {
                throw Problem(
                    .badRequest, "malformed_request", "The body is incomplete. Send all of it.",
                    headers: [.connection: "close"])
            }
            if piece == nil { try await RequestReading.current?.renew() }
            return piece
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The whole of it.
    func collect() async throws -> ByteBuffer {
        var whole = ByteBuffer()
        for try await var piece in self { whole.writeBuffer(&piece) }
        return whole
    }

    /// The whole of a body that may be JSON alone, or empty.
    ///
    /// - Throws: 415 where its type is another, or missing though it is needed.
    static func json(of request: Request, limit: Int64, needsType: Bool = false) async throws -> ByteBuffer {
        let body = try await IncomingBody(request, limit: limit).collect()
        let type = request.headers[.contentType].map { HeaderParameters($0)?.value }
        guard type == "application/json" || !needsType && (body.readableBytes == 0 || type == nil) else {
            throw Problem(
                .unsupportedMediaType, "unsupported_media_type",
                "This call accepts only JSON. Send it as 'Content-Type: application/json'.")
        }
        return body
    }

    /// Bytes that the request says it has.
    static func announced(by request: Request) -> Int64? {
        request.headers[.contentLength].flatMap { Int64($0) }
    }

    private static func tooLarge(_ limit: Int64) -> Problem {
        Problem(
            .contentTooLarge, "source_too_large", "The body is too large. This call accepts at most \(limit) bytes.",
            headers: [.connection: "close"])
    }
}

/// What a submission's body brought: its description, and the sources that came along.
struct ReceivedBody: Sendable {
    /// The JSON of a JSON or multipart body; nil for a raw one.
    var description: [UInt8]?
    /// By part name; a raw body's is ``wholeBody``.
    var parts: [String: ReceivedPart] = [:]

    static let wholeBody = ""
}

/// Receives the three kinds of bodies that a submission may have.
struct BodyReceiver {
    let service: Service
    /// The part of a multipart body that says what is wanted.
    var descriptionPart = "job"

    /// How a body is to be understood.
    private enum Kind {
        case json
        case multipart(boundary: String)
        case raw(type: String)

        init(_ request: Request) throws(Problem) {
            guard let text = request.headers[.contentType] else { throw Self.unsupported }
            guard let type = HeaderParameters(text) else {
                throw .invalid("Content-Type", "Must be a media type, with valid parameters.")
            }
            switch type.value {
            case "application/json": self = .json
            case "multipart/form-data":
                guard let boundary = type["boundary"] else {
                    throw .invalid("Content-Type", "Must have the parameter 'boundary' for a multipart/form-data body.")
                }
                self = .multipart(boundary: boundary)
            case let name where name == "application/octet-stream" || Self.sources.contains(where: name.hasPrefix):
                self = .raw(type: name)
            default: throw Self.unsupported
            }
        }

        /// Refuses a body without a type, and the type that curl sends by default.
        private static let unsupported = Problem(
            .unsupportedMediaType, "unsupported_media_type",
            "The 'Content-Type' is missing or not supported. Use application/json or multipart/form-data to describe a job. To send the source itself, use image/…, audio/…, video/… or application/octet-stream.",
            headers: [.connection: "close"])

        /// What the types of sources begin with.
        private static let sources = ["image/", "audio/", "video/"]
    }

    /// What the headers add to a multipart body, beside the sources.
    private static let multipartMargin: Int64 = 2 << 20

    /// Receives a body whole and durable, and hands it to `use`; what `use` doesn't keep is removed.
    ///
    /// - Parameter use: Is also told the request's query where that holds the options; tells whether the sources in the
    ///   body are now the store's.
    func receive<Result>(
        _ request: Request, of tenant: TenantID, _ use: (ReceivedBody) async throws -> (Result, keepsSources: Bool)
    ) async throws -> Result {
        let kind = try Kind(request)
        let limit =
            switch kind {
            case .json: Int64(service.settings.intake.jsonBytes)
            case .multipart: service.settings.limits.clipBytes + Self.multipartMargin
            case .raw: service.settings.limits.clipBytes
            }
        let body = try IncomingBody(request, limit: limit)
        let place = try await service.intake.enter(body.announced, of: tenant)
        defer { place.leave() }
        return try await service.taking(
            { try await receive(body, as: kind, place: place, into: &$0) }, use: use)
    }

    private func receive(
        _ body: IncomingBody, as kind: Kind, place: UploadPlace, into received: inout ReceivedBody
    ) async throws {
        switch kind {
        case .json: received.description = Array((try await body.collect()).readableBytesView)
        case .multipart(let boundary):
            try await receiveParts(body, boundary: boundary, place: place, into: &received)
        case .raw(let type):
            let writer = PartWriter(into: service.spool, keptBy: service.store.sources)
            for try await piece in body {
                try place.received(piece.readableBytes)
                try await writer.write(piece)
            }
            received.parts[ReceivedBody.wholeBody] = try await writer.commit(
                fileName: nil, declaredType: ReceivedPart.declared(type))
            if received.parts[ReceivedBody.wholeBody]?.bytes == 0 {
                throw AttachmentError.invalidSource(reason: "the body is empty")
            }
        }
    }

    private func receiveParts(
        _ body: IncomingBody, boundary: String, place: UploadPlace, into received: inout ReceivedBody
    ) async throws {
        do {
            var parser = try MultipartParser(boundary: boundary)
            var part: (head: MultipartHead, writer: PartWriter?)?
            for try await piece in body {
                try place.received(piece.readableBytes)
                for event in try parser.feed(piece) {
                    switch event {
                    case .begin(let head):
                        if head.name == descriptionPart {
                            guard received.description == nil else {
                                throw MultipartError("it has two parts '\(descriptionPart)'")
                            }
                            received.description = []
                            part = (head, nil)
                        } else {
                            guard received.parts[head.name] == nil else {
                                throw MultipartError("it has two parts '\(head.name.prefix(64))'")
                            }
                            part = (head, PartWriter(into: service.spool, keptBy: service.store.sources))
                        }
                    case .bytes(let bytes):
                        if let writer = part?.writer {
                            try await writer.write(bytes)
                        } else {
                            received.description?.append(contentsOf: bytes.readableBytesView)
                            guard received.description?.count ?? 0 <= service.settings.intake.jsonBytes else {
                                throw Problem(
                                    .contentTooLarge, "body_too_large",
                                    "The part '\(descriptionPart)' is too large. It can have at most \(service.settings.intake.jsonBytes) bytes.",
                                    headers: [.connection: "close"])
                            }
                        }
                    case .end:
                        if let part, let writer = part.writer {
                            received.parts[part.head.name] = try await writer.commit(
                                fileName: part.head.fileName.flatMap(FileName.cleaned),
                                declaredType: ReceivedPart.declared(part.head.contentType))
                        }
                        part = nil
                    }
                }
            }
            try parser.finish()
        } catch let error as MultipartError {
            throw Problem(
                .badRequest, "invalid_multipart", "The multipart body is malformed: \(error.reason).",
                headers: [.connection: "close"])
        }
        guard received.description != nil else {
            throw Problem.invalid(
                descriptionPart,
                "The multipart body has no part '\(descriptionPart)'. Add it, with the description as JSON.")
        }
    }
}

extension Service {
    /// Receives sources, and hands them to `use`; what that doesn't keep is removed.
    ///
    /// - Parameter use: Tells whether the sources in the body are now the store's.
    func taking<Result>(
        _ receive: (inout ReceivedBody) async throws -> Void,
        use: (ReceivedBody) async throws -> (Result, keepsSources: Bool)
    ) async throws -> Result {
        var received = ReceivedBody()
        do {
            try await receive(&received)
            let (result, keepsSources) = try await use(received)
            if !keepsSources { await discard(received.parts.values) }
            return result
        } catch {
            await discard(received.parts.values)
            throw error
        }
    }

    private func discard(_ parts: some Sequence<ReceivedPart>) async {
        let names = parts.map(\.source)
        guard !names.isEmpty else { return }
        // Also where the client went away, by which the request's task is cancelled: a bucket is asked by none such. What stays
        // behind is found by the next sweep.
        await Task { [store] in try? await store.sources.remove(names) }.value
    }
}
