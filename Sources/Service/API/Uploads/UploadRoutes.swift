import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Jobs
import Payloads
import Platform

/// Uploads: opened by a back end, sent by whoever has the URL.
struct UploadRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.openUpload) { request, context in try await open(request, context) }
        table.on(.uploadOptions) { request, _ in options(request, methods: [.post, .get, .options]) }
        table.list(.listUploads, as: "uploads", by: ["state"]) {
            $0.choice("state", UploadState.self)
        } page: { state, context, part in
            try await service.records.uploads(
                of: context.tenant, in: state, after: part.cursor, limit: part.limit)
        } body: {
            $0.shown
        }
        table.on(.upload) { _, context in
            guard let record = try await record(context) else { throw Problem.notFound }
            return try .json(record.shown)
        }
        table.on(.deleteUpload) { _, context in
            guard let record = try await record(context) else { throw Problem.notFound }
            try await service.uploads.cancel(record)
            return Response(status: .noContent)
        }
        table.on(.sendOptions) { request, _ in options(request, methods: Self.methods) }
        for endpoint in [
            Endpoint.sendHead, .sendOffset, .sendWhole, .sendNew, .sendMore, .sendNoMore,
        ] {
            table.on(endpoint) { request, context in
                let cors = fields(for: request)
                do {
                    var response = try await send(request, context)
                    response.headers.append(contentsOf: cors)
                    return response
                } catch {
                    var problem = Problem(describing: error)
                    problem.headers.append(contentsOf: cors)
                    throw problem
                }
            }
        }
    }

    // MARK: Opening

    private func open(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let speaksTus = try TusUpload.isSpoken(in: request)
        do {
            return speaksTus ? try await create(request, context) : try await open(request, for: context)
        } catch {
            throw speaksTus ? TusUpload.problem(error) : Problem(describing: error)
        }
    }

    private func open(_ request: Request, for context: ServiceContext) async throws -> Response {
        let body = try await IncomingBody.json(of: request, limit: Int64(service.settings.intake.jsonBytes))
        let id = UploadID.generate()
        let wording = try UploadReader(service, id: id).upload(body.readableBytesView)
        let tenant = try context.tenant
        var terms = UploadTerms(
            name: wording.name, typeHint: wording.typeHint, sha256: wording.sha256, callback: wording.callback,
            traceparent: context.trace.header)
        if let job = wording.job { terms.job = try await submission(job, for: id, of: tenant) }
        let (record, url) = try await add(
            id, terms, length: wording.length, life: wording.ttl, of: tenant)
        // The response that opens an upload is the only one with its URL.
        return try .json(
            record.shown + ["url": url], .created, headers: [.location: "/v1/uploads/\(id.rawValue)"])
    }

    /// The job that waits for the upload. It is judged now, so that it is taken then.
    private func submission(
        _ wording: SubmissionRequest, for id: UploadID, of tenant: TenantID
    ) async throws -> JobSubmission {
        try await service.intake.admit(tenant)
        let submitting = Submitting(service: service)
        let job = JobID.generate()
        return try submitting.submission(wording, as: job, of: tenant, digest: nil) { attachment in
            guard case .upload = attachment.source else {
                return submitting.attachment(attachment, ReceivedBody(), for: UploadUse.subject(of: job))
            }
            // What it is made of is known when it is there.
            var submission = AttachmentSubmission(
                identifier: attachment.identifier, location: .spool(name: SourceName(rawValue: "")),
                name: attachment.name,
                declaredType: attachment.typeHint.map { MediaType(declared: $0)?.rawValue ?? $0 },
                request: attachment.request, options: attachment.options,
                profile: attachment.profile.flatMap { service.profile(named: $0) }, encryption: attachment.encryption)
            submission.upload = UploadUse(id, by: UploadUse.subject(of: job))
            return submission
        }
    }

    private func add(
        _ id: UploadID, _ terms: UploadTerms, length: Int64?, life: Double, of tenant: TenantID
    ) async throws -> (UploadRecord, url: String) {
        try await service.intake.admitUpload(opening: true)
        guard let token = try service.records.newTokens(.upload, 1).first else { throw Problem.notFound }
        let now = try await service.records.now()
        let record = UploadRecord(
            id: id, token, tenant: tenant, terms: terms, length: length,
            source: service.uploads.newSourceName(), createdAt: now,
            expiresAt: now + .seconds(fraction: life))
        try await service.records.add(record, within: service.settings.tenantQuotas[tenant])
        return (record, "\(service.settings.publicURL)/u/\(token.token.secretText)")
    }

    /// By tus: the same, described by headers, and with bytes where some come along.
    private func create(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let longest = service.settings.limits.clipBytes
        let creation = try TusUpload.creation(request, longest: longest)
        let (record, url) = try await add(
            .generate(),
            UploadTerms(
                name: creation.description.name, typeHint: creation.description.typeHint,
                metadata: creation.description.metadata, traceparent: context.trace.header),
            length: creation.length, life: UploadRequest.defaultLife, of: try context.tenant)
        let exchange = UploadExchange(service: service, request: request, context: context, upload: record)
        return try await TusUpload(exchange: exchange).create(at: url)
    }

    // MARK: Sending

    /// What an upload's URL takes.
    private static let methods: [HTTPRequest.Method] = [.options, .head, .get, .put, .post, .patch, .delete]

    private func send(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let token = AccessToken(secretText: try context.parameter("ticket"))
        let speaksTus = try TusUpload.isSpoken(in: request)
        guard let upload = try await service.records.upload(of: token) else {
            throw speaksTus ? TusUpload.problem(Problem.notFound) : Problem.notFound
        }
        let exchange = UploadExchange(service: service, request: request, context: context, upload: upload)
        let method = request.headers[.methodOverride].flatMap { HTTPRequest.Method($0.uppercased()) } ?? request.method
        if speaksTus { return try await TusUpload(exchange: exchange).answer(method) }
        if ResumableUpload.isSpoken(in: request, method: method) {
            return try await ResumableUpload(exchange).answer(method)
        }
        do {
            return try await PlainUpload(exchange: exchange).answer()
        } catch let failure as UploadFailure {
            throw Problem(failure)
        }
    }

    /// What can be done here, by every protocol; asked without a key or a ticket.
    private func options(_ request: Request, methods: [HTTPRequest.Method]) -> Response {
        let longest = service.settings.limits.clipBytes
        var fields = OriginPolicy(origins: service.settings.uploads.origins).preflight(
            for: request.headers[.origin], methods: methods, headers: Self.taken, exposing: Self.exposed)
        fields.append(contentsOf: TusUpload.abilities(longest: longest))
        let version = ResumableVersion(header: request.headers[.uploadDraftInteropVersion])
        fields.append(contentsOf: version.fields)
        if let limit = version.limit(longest: longest, rest: nil) { fields[.uploadLimit] = limit }
        fields[.allow] = methods.map(\.rawValue).joined(separator: ", ")
        fields[.acceptPatch] = "application/partial-upload, application/offset+octet-stream"
        return Response(status: .noContent, headers: fields)
    }

    private func fields(for request: Request) -> HTTPFields {
        OriginPolicy(origins: service.settings.uploads.origins).fields(
            for: request.headers[.origin], exposing: Self.exposed)
    }

    /// Headers that pages may send, beside those that any page may.
    private static let taken: [String] = [
        "Content-Type", "Content-Disposition", "Content-Range", "Content-Digest", "Repr-Digest", "Tus-Resumable",
        "Upload-Offset", "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Checksum",
        "Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version", "X-HTTP-Method-Override",
        "X-Request-Id", "Authorization",
    ]
    /// Headers of answers that pages may read.
    private static let exposed: [String] = [
        "Location", "Upload-Offset", "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Expires",
        "Upload-Complete", "Upload-Incomplete", "Upload-Limit", "Upload-Draft-Interop-Version", "Tus-Resumable",
        "Tus-Version", "Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm", "Repr-Digest", "Satchel-Job",
        "Retry-After",
    ]

    // MARK: Looking

    private func record(_ context: ServiceContext) async throws -> UploadRecord? {
        try await service.records.upload(UploadID(rawValue: try context.parameter("id")), of: try context.tenant)
    }
}

extension Problem {
    static let methodNotAllowed = Problem(
        .methodNotAllowed, "method_not_allowed", "Method not allowed here. OPTIONS lists the allowed methods.")
}
