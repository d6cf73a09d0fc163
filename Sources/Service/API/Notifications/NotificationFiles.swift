public import SatchelCore
import FoundationEssentials
import HTTPTypes
import Ingest
import Payloads
import Platform
import Stores

/// A notification as files describe it, for whoever works on the store itself.
public struct NotificationFiles: Sendable {
    /// The body of `PUT /v1/notifications/{id}`.
    public var description: [UInt8]
    /// Files that are its media, under their identifiers. The description has a `part` for each, or nothing.
    public var attachments: [AttachmentSubmission]
    /// When it fires, where the description doesn't say.
    public var trigger: Trigger?

    public init(description: [UInt8], attachments: [AttachmentSubmission] = [], trigger: Trigger? = nil) {
        self.description = description
        self.attachments = attachments
        self.trigger = trigger
    }

    /// A body as it would come in a request, before its parts are received.
    struct Body {
        var description: [UInt8]
        /// By the parts' names.
        var files: [String: AttachmentSubmission] = [:]
    }

    /// Puts files and trigger into the description.
    ///
    /// - Throws: A problem that names every field which the files contradict. What can't be read at all is left as it is, for
    ///   whoever reads it then.
    func body() throws -> Body {
        let unread = Body(description: description)
        guard let root = try? JSONDocument.read(description, .requestBody).root, case .object = root else {
            return unread
        }
        var listed: [JSONValue] = []
        switch root["attachments"] {
        case nil: break
        case let value? where value.isNull: break
        case .array?: listed = root["attachments"]?.elements ?? []
        default: return unread
        }
        let errors = ValidationErrors()
        var body = unread
        for file in attachments {
            if let index = listed.firstIndex(where: { $0["identifier"]?.text == file.identifier }) {
                if let part = listed[index]["part"]?.text {
                    body.files[part] = file
                } else {
                    errors.add(
                        "/attachments/\(index)",
                        "Must have a 'part' and no other source, because '\(file.identifier)' is given as a file.")
                }
            } else {
                let part = Self.partName(for: file.identifier, beside: listed)
                listed.append(
                    JSONValue(members: [("identifier", JSONValue(file.identifier)), ("part", JSONValue(part))]))
                body.files[part] = file
            }
        }
        for (index, attachment) in listed.enumerated() {
            guard let part = attachment["part"]?.text, body.files[part] == nil else { continue }
            errors.add("/attachments/\(index)/part", "Must have a file. Give one for the attachment's identifier.")
        }
        var members: [(key: String, value: JSONValue?)] = root.members.filter { $0.key != "attachments" }
        if !listed.isEmpty { members.append(("attachments", JSONValue(elements: listed))) }
        if let trigger {
            if root["trigger"]?.isNull ?? true {
                members.removeAll { $0.key == "trigger" }
                members.append(
                    ("trigger", try JSONDocument.read(Array(try JSON.encode(trigger)), .requestBody).root))
            } else {
                errors.add("/trigger", "Must be omitted, because the time is also given as an option.")
            }
        }
        try errors.check()
        body.description = JSONValue(members: members).bytes
        return body
    }

    /// A name that no other part has.
    private static func partName(for identifier: String, beside listed: [JSONValue]) -> String {
        let names = Set(listed.compactMap { $0["part"]?.text })
        var name = identifier
        while names.contains(name) { name += "'" }
        return name
    }
}

extension Service {
    /// Takes a notification in as `PUT /v1/notifications/{id}` does: whoever serves the store prepares its media and fires it.
    ///
    /// - Throws: ``FileProblems`` where it can't be taken as it is; an error of the files or of the store.
    public func put(
        _ files: NotificationFiles, as id: NotificationID, of tenant: TenantID
    ) async throws -> NotificationAnswer {
        do {
            guard files.description.count <= settings.intake.jsonBytes else {
                throw Problem(
                    .contentTooLarge, "body_too_large",
                    "The description is too large. It can have at most \(settings.intake.jsonBytes) bytes.")
            }
            let body = try files.body()
            return try await taking { received in
                for (name, file) in body.files { received.parts[name] = try await self.received(file) }
            } use: { received in
                try await NotificationSubmitting(service: self, tenant: tenant, traceparent: nil)
                    .submit(body.description, received, id: id)
            }
        } catch let problem as Problem {
            throw FileProblems(problem)
        }
    }

    /// Copies a file to where uploads are.
    private func received(_ submission: AttachmentSubmission) async throws(AttachmentError) -> ReceivedPart {
        guard case .file(let root, let path, let state) = submission.location else {
            throw .invalidSource(reason: "it is not a file")
        }
        let limit = settings.limits.clipBytes
        guard state.bytes <= limit else { throw .sourceTooLarge(bytes: state.bytes, limit: limit) }
        let copy = try await BlockingWork.run { [spool] () throws(AttachmentError) in
            let source = try SourceFile.open(root: root, path: path, expecting: state).takeDescriptor()
            var copy = try spool.create(hashing: true, writingBack: true)
            for start in stride(from: 0, to: state.bytes, by: Int(Self.pieceBytes)) {
                let piece: [UInt8]
                do throws(SystemError) {
                    piece = try Files.read(start..<min(start + Self.pieceBytes, state.bytes), of: source)
                } catch {
                    throw AttachmentError(error)
                }
                try unsafe piece.withUnsafeBufferPointer { bytes throws(AttachmentError) in
                    unsafe try copy.write(UnsafeRawBufferPointer(bytes))
                }
            }
            guard copy.bytes == state.bytes else { throw .invalidSource(reason: "it changed while it was read") }
            return copy.finish()
        }
        return ReceivedPart(
            source: try await store.sources.put(copy), bytes: copy.bytes, sha256: copy.sha256,
            fileName: submission.name.flatMap(FileName.cleaned), declaredType: nil)
    }

    /// Of a file, read at once.
    private static let pieceBytes: Int64 = 1 << 20
}
