import SatchelCore
internal import Stores
import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Jobs
import Platform

/// Takes submissions in: admission, the body, and the record.
struct Submitting: Sendable {
    let service: Service

    /// - Parameter id: The client's; nil for one of ours.
    /// - Returns: The job, and whether the same request made it before.
    func submit(
        _ request: Request, id: JobID?, _ context: ServiceContext
    ) async throws -> (record: JobRecord, isReplay: Bool) {
        let tenant = try context.tenant
        let key = id == nil ? try idempotencyKey(of: request) : nil
        try await admit(tenant)
        return try await BodyReceiver(service: service).receive(request, of: tenant) { body in
            var (submission, digest) = try await submission(request, body, id: id, tenant: tenant)
            submission.traceparent = context.trace.header
            if let deadline = submission.deadline {
                RequestReading.current?.end(within: .seconds(fraction: deadline))
            }
            var options = service.settings.submissions(of: tenant)
            options.idempotency = key.map { IdempotencyKey(text: $0, bodyDigest: digest) }
            switch try await service.jobs.submit(submission, options) {
            case .accepted(let record), .claimed(let record, _), .adopted(let record):
                return ((record, false), keepsSources: true)
            case .unchanged(let record):
                return ((record, true), keepsSources: false)
            case .conflict:
                throw Problem(
                    .unprocessableContent, "idempotency_conflict",
                    "This Idempotency-Key was already used with a different body. Use a new key for a new request.")
            }
        }
    }

    /// Before any of the body is read: what is refused ends the connection.
    func admit(_ tenant: TenantID) async throws {
        do {
            try await service.intake.admit(tenant)
        } catch let error as AttachmentError {
            var problem = Problem(error)
            problem.headers[.connection] = "close"
            throw problem
        }
    }

    func idempotencyKey(of request: Request) throws(Problem) -> String? {
        guard let key = request.headers["Idempotency-Key"] else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .invalid("Idempotency-Key", "Must be 1 to 255 visible ASCII characters.")
        }
        return key
    }

    /// The canonical form of a body. Whatever tells two submissions apart is in it, and nothing that is made up here.
    private struct Canonical: Encodable {
        struct Part: Encodable {
            var sha256: String
            var fileName: String?
            var declaredType: String?
        }

        var request: SubmissionRequest
        var parts: [String: Part]
    }

    private func submission(
        _ request: Request, _ body: ReceivedBody, id: JobID?, tenant: TenantID
    ) async throws -> (JobSubmission, digest: String) {
        let reader = SubmissionReader(service)
        let wording: SubmissionRequest
        if let description = body.description {
            reader.refuse(try Query(request))
            wording = try reader.submission(description, hasParts: !body.parts.isEmpty)
        } else {
            wording = try reader.submission(Query(request))
        }
        try checkParts(body, wording)
        let canonical = Canonical(
            request: wording,
            parts: body.parts.mapValues {
                Canonical.Part(sha256: $0.sha256, fileName: $0.fileName, declaredType: $0.declaredType)
            })
        let digest = SHA256.hash(data: try JSON.encode(canonical)).hexadecimal
        let id = id ?? .generate()
        let uploads = try await uploads(of: wording.attachments, tenant: tenant)
        return (
            try submission(wording, as: id, of: tenant, digest: digest) {
                attachment($0, body, uploads, for: UploadUse.subject(of: id))
            }, digest
        )
    }

    /// A job as it was worded.
    func submission(
        _ wording: SubmissionRequest, as id: JobID, of tenant: TenantID, digest: String?,
        attachment: (SubmissionRequest.Attachment) -> AttachmentSubmission?
    ) throws(Problem) -> JobSubmission {
        guard let profile = service.profile(named: wording.profile) else {
            throw Problem.invalid("profile", "'\(wording.profile)' is not a profile.")
        }
        if let limit = profile.deadline, let deadline = wording.deadline, deadline > limit {
            let seconds = PlainValue.number(limit).text
            // Only a body without a description is described by the query.
            let name = if case .body? = wording.attachments.first?.source { "deadline" } else { "/deadline" }
            throw Problem.invalid(
                name, "Must be at most \(seconds) s, the deadline of the profile '\(wording.profile)'.")
        }
        return JobSubmission(
            tenant: tenant, id: id, profile: profile, mode: wording.mode, priority: wording.priority,
            deadline: wording.deadline ?? profile.deadline,
            metadata: wording.metadata, bodyDigest: digest, leaseTTL: wording.leaseTTL,
            delivery: wording.delivery, encrypt: wording.encrypt, callback: wording.callback,
            attachments: wording.attachments.compactMap(attachment))
    }

    /// The uploads that attachments are made of. Whether they can be had is for the store to say, which knows who has them.
    func uploads(
        of attachments: [SubmissionRequest.Attachment], tenant: TenantID
    ) async throws -> [UploadID: UploadRecord] {
        let errors = ValidationErrors()
        var uploads: [UploadID: UploadRecord] = [:]
        for (index, attachment) in attachments.enumerated() {
            guard case .upload(let id) = attachment.source else { continue }
            uploads[id] = try await service.records.upload(id, of: tenant)
            if uploads[id] == nil {
                errors.add(
                    "/attachments/\(index)/upload",
                    "'\(id.rawValue.prefix(64))' is not an upload. Open one with POST /v1/uploads.")
            }
        }
        try errors.check()
        return uploads
    }

    private func checkParts(_ body: ReceivedBody, _ wording: SubmissionRequest) throws(Problem) {
        let errors = ValidationErrors()
        Self.check(body.parts.keys, usedBy: wording.attachments, errors)
        try errors.check()
    }

    /// Every part is used, and every part that is used is there.
    static func check(
        _ parts: some Sequence<String>, usedBy attachments: [SubmissionRequest.Attachment], _ errors: ValidationErrors
    ) {
        let parts = Set(parts)
        var unused = parts.subtracting([ReceivedBody.wholeBody])
        for (index, attachment) in attachments.enumerated() {
            guard case .part(let name) = attachment.source else { continue }
            if !parts.contains(name) {
                errors.add(
                    "/attachments/\(index)/part",
                    "Must name a part of the body. The body has no part '\(name.prefix(64))'.")
            }
            unused.remove(name)
        }
        for name in unused.sorted() {
            errors.add(
                String(name.prefix(64)), "Must be used by an attachment. No attachment names this part of the body.")
        }
    }

    /// - Parameter subject: Whose the uploads are then.
    func attachment(
        _ wording: SubmissionRequest.Attachment, _ body: ReceivedBody, _ uploads: [UploadID: UploadRecord] = [:],
        for subject: String
    ) -> AttachmentSubmission? {
        let part: ReceivedPart?
        let location: SourceLocation
        var upload: UploadRecord?
        switch wording.source {
        case .url(let url, let headers):
            part = nil
            location = .url(url, headers: headers)
        case .part(let name):
            guard let found = body.parts[name] else { return nil }
            part = found
            location = .spool(name: found.source)
        case .body:
            guard let found = body.parts[ReceivedBody.wholeBody] else { return nil }
            part = found
            location = .spool(name: found.source)
        case .upload(let id):
            guard let found = uploads[id] else { return nil }
            part = nil
            upload = found
            location = .spool(name: found.source)
        }
        let name = wording.name ?? part?.fileName
        let hint = wording.typeHint.map { MediaType(declared: $0)?.rawValue ?? $0 }
        let byName = name.flatMap { $0.split(separator: ".").dropFirst().last }.flatMap {
            MediaType(declared: String($0))?.rawValue
        }
        var submission = AttachmentSubmission(
            identifier: wording.identifier, location: location, sha256: part?.sha256, name: name,
            // For a URL the origin's own word comes before the extension.
            declaredType: hint ?? (part == nil ? nil : part?.declaredType ?? byName), request: wording.request,
            options: wording.options, profile: wording.profile.flatMap { service.profile(named: $0) },
            encryption: wording.encryption)
        if let upload {
            submission.upload = UploadUse(upload.id, by: subject)
            submission.take(upload)
        }
        return submission
    }
}
