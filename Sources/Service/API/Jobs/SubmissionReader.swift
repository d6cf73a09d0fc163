import SatchelCore
import Ingest
import Payloads

/// Reads submissions, from a JSON object or from a query, and tells everything that is wrong at once.
struct SubmissionReader {
    /// Names of profiles.
    let profiles: [String]
    /// Seconds, where the submission doesn't say.
    let leaseTTL: Double
    /// Decides who may be called back.
    var webhooks = FetchGuard()
    var errors = ValidationErrors()
    /// The upload that `"upload": "self"` means; nil where that means nothing.
    var ownUpload: UploadID?

    static let jobFields = [
        "profile", "mode", "deadline", "priority", "lease_ttl", "delivery", "encrypt", "metadata", "callback",
        "attachments",
    ]
    static let attachmentFields = [
        "identifier", "url", "part", "upload", "headers", "encryption", "name", "type_hint", "profile", "crop", "trim",
        "thumbnail_hidden",
        "thumbnail_clipping_rect", "thumbnail_time", "thumbnail_frame",
    ]

    // MARK: A JSON body

    /// Options beside a body that has its own: nobody would look at them, and they would be lost unseen.
    func refuse(_ query: Query) {
        for (name, _) in query.parameters {
            errors.add(name, "Only allowed with a raw body. Move it into the JSON that describes the job.")
        }
    }

    /// - Parameter hasParts: Whether the body has parts beside the description.
    /// - Throws: A problem that names every field which can't be taken.
    func submission(_ body: some Sequence<UInt8>, hasParts: Bool) throws(Problem) -> SubmissionRequest {
        let request = submission(try FieldReader(body: body, known: Self.jobFields, errors), hasParts: hasParts)
        try errors.check()
        return request
    }

    func submission(_ job: FieldReader, hasParts: Bool) -> SubmissionRequest {
        var attachments: [SubmissionRequest.Attachment] = []
        let readers = job.objects("attachments", known: Self.attachmentFields)
        if let readers {
            attachments = readers.map { attachment($0, source: source($0, hasParts: hasParts)) }
            checkIdentifiers(zip(readers, attachments))
        }
        if job.value("attachments") == nil || readers?.isEmpty == true && attachments.isEmpty {
            if errors.fields.allSatisfy({ !$0.pointer.hasPrefix("/attachments") }) {
                job.addError("attachments", "Must be 1 to \(JobSubmission.maximumAttachments) attachments.")
            }
        } else if attachments.count > JobSubmission.maximumAttachments {
            job.addError(
                "attachments",
                "Must be 1 to \(JobSubmission.maximumAttachments) attachments, not \(attachments.count).")
        }
        return request(
            job, metadata: job.object("metadata", known: nil), callback: callback(job), attachments: attachments)
    }

    func callback(_ job: FieldReader) -> String? {
        guard let callback = job.object("callback", known: ["url"]) else { return nil }
        if callback.value("url") == nil { callback.addError("url", "Required: the URL to call.") }
        return callback.webhookURL("url", webhooks)
    }

    func source(_ reader: FieldReader, hasParts: Bool) -> SubmissionRequest.Source {
        let url = url(reader, "url")
        let part = reader.string("part", bytes: 1...256)
        let upload = upload(reader)
        var headers: [String: String] = [:]
        if let fields = reader.object("headers", known: nil) {
            for name in fields.names { headers[name] = fields.string(name) }
            do throws(AttachmentError) {
                _ = try FetchHeaders(headers)
            } catch {
                reader.addError("headers", error.message)
            }
        }
        switch ["url", "part", "upload"].filter({ reader.value($0) != nil }) {
        case ["url"]: break
        case ["part"]:
            if !hasParts { reader.addError("part", "Only allowed in a multipart/form-data body.") }
            fallthrough
        case ["upload"]:
            if !headers.isEmpty { reader.addError("headers", "Only allowed together with a url.") }
        default: reader.addError("url", "An attachment must have exactly one of url, part, upload.")
        }
        return part.map { .part($0) } ?? upload.map { .upload($0) } ?? .url(url ?? "", headers: headers)
    }

    private func upload(_ reader: FieldReader) -> UploadID? {
        guard let text = reader.string("upload", bytes: 1...64) else { return nil }
        guard let ownUpload else { return UploadID(rawValue: text) }
        if text != "self" {
            reader.addError("upload", "Must be 'self' in the job of an upload.")
        }
        return ownUpload
    }

    /// A URL that can be fetched, where it is one.
    private func url(_ reader: FieldReader, _ field: String) -> String? {
        guard let text = reader.string(field, bytes: 1...FetchURL.maximumLength) else { return nil }
        do throws(AttachmentError) {
            if let encrypted = try AESGCMURL(text) { return encrypted.url }
            _ = try FetchURL(text)
            return text
        } catch {
            reader.addError(field, error.message)
            return nil
        }
    }

    private func checkIdentifiers(_ attachments: some Sequence<(FieldReader, SubmissionRequest.Attachment)>) {
        var taken: [String: Set<String>] = [:]
        for (reader, attachment) in attachments {
            func claim(_ field: String, _ value: String, _ clash: String) {
                guard !taken[field, default: []].insert(value).inserted else { return }
                reader.addError(field, "Must be unique. Another attachment of the job \(clash).")
            }
            if !attachment.identifier.isEmpty { claim("identifier", attachment.identifier, "has this identifier") }
            switch attachment.source {
            case .part(let name): claim("part", name, "uses this part")
            case .upload(let id): claim("upload", id.rawValue, "uses this upload")
            case .url, .body: break
            }
        }
    }

    // MARK: A query

    private static let parameters = [
        "profile", "mode", "deadline", "priority", "lease_ttl", "delivery", "encrypt", "callback", "identifier", "name",
        "type_hint", "crop", "trim_start", "trim_duration", "trim_end", "trim_around", "thumbnail_hidden",
        "thumbnail_clipping_rect", "thumbnail_time", "thumbnail_frame",
    ]
    private static let numbers: Set = [
        "deadline", "lease_ttl", "trim_start", "trim_duration", "trim_end", "thumbnail_time", "thumbnail_frame",
    ]

    /// A submission of one attachment, whose source is the body: every field is a parameter of the query, those of
    /// `metadata` with that prefix (`metadata.message_id`), and those of `trim` as `trim_start`, `trim_duration`,
    /// `trim_end`, `trim_around`.
    ///
    /// - Throws: A problem that names every parameter which can't be taken.
    func submission(_ query: Query) throws(Problem) -> SubmissionRequest {
        var fields: [(key: String, value: JSONValue)] = []
        var metadata: [(key: String, value: JSONValue)] = []
        for (name, text) in query.parameters {
            if name.hasPrefix("metadata.") {
                metadata.append((String(name.dropFirst(9)), JSONValue(text)))
            } else {
                fields.append((name, Self.value(of: name, text)))
            }
        }
        let job = FieldReader(fields, named: .parameter(""), known: Self.parameters, errors)
        let trim = FieldReader(
            fields.filter { $0.key.hasPrefix("trim_") }.map { (String($0.key.dropFirst(5)), $0.value) },
            named: .parameter("trim_"), known: nil, errors)
        var attachment = attachment(job, source: .body, inQuery: true)
        if !trim.names.isEmpty { attachment.trim = self.trim(trim, thumbnailTime: job.value("thumbnail_time")) }
        let request = request(
            job, metadata: FieldReader(metadata, named: .parameter("metadata."), known: nil, errors),
            callback: job.webhookURL("callback", webhooks), attachments: [attachment])
        try errors.check()
        return request
    }

    private static func value(of name: String, _ text: String) -> JSONValue {
        switch name {
        case "thumbnail_hidden" where text == "true": return JSONValue(true)
        case "thumbnail_hidden" where text == "false": return JSONValue(false)
        case _ where numbers.contains(name):
            return Double(text).flatMap { $0.isFinite ? JSONValue($0) : nil } ?? JSONValue(text)
        case "crop" where text.contains(","), "thumbnail_clipping_rect":
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
            let names = numbers.count == 2 ? ["x", "y"] : ["x", "y", "width", "height"]
            guard numbers.count == names.count, numbers.allSatisfy(\.isFinite) else { return JSONValue(text) }
            let object = JSONValue(members: zip(names, numbers).map { ($0, JSONValue($1)) })
            guard name == "crop" else { return object }
            return JSONValue(members: [(numbers.count == 2 ? "focal_point" : "rect", object)])
        default: return JSONValue(text)
        }
    }

    // MARK: Fields

    private func request(
        _ job: FieldReader, metadata: FieldReader?, callback: String?, attachments: [SubmissionRequest.Attachment]
    ) -> SubmissionRequest {
        let ttl = job.number("lease_ttl", in: SubmissionBounds.leaseTTL) ?? leaseTTL
        return SubmissionRequest(
            profile: job.profile(among: profiles) ?? "notification", mode: job.choice("mode", JobMode.self) ?? .lenient,
            priority: job.choice("priority", JobPriority.self) ?? .interactive,
            deadline: job.number("deadline", in: SubmissionBounds.deadline), leaseTTL: ttl > 0 ? ttl : nil,
            delivery: job.choice("delivery", DeliveryMode.self) ?? .private,
            encrypt: job.choice("encrypt", among: EncryptionScheme.ofRenditions),
            metadata: metadata.map(pairs) ?? [:], callback: callback, attachments: attachments)
    }

    func pairs(_ reader: FieldReader) -> [String: String] {
        var pairs: [String: String] = [:]
        for name in reader.names { pairs[name] = reader.string(name) }
        let bytes = pairs.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        if reader.names.count > SubmissionBounds.metadataPairs || bytes > SubmissionBounds.metadataBytes {
            errors.add(
                reader.naming.container,
                "Must be at most \(SubmissionBounds.metadataPairs) pairs and \(SubmissionBounds.metadataBytes) bytes."
            )
        }
        return pairs
    }

    func attachment(
        _ reader: FieldReader, source: SubmissionRequest.Source, inQuery: Bool = false
    ) -> SubmissionRequest.Attachment {
        let time = reader.number("thumbnail_time", in: SubmissionBounds.time)
        let frame = reader.integer("thumbnail_frame", in: 0...1_000_000)
        if time != nil, frame != nil {
            for name in ["thumbnail_time", "thumbnail_frame"] {
                reader.addError(
                    name, "Must be the only one of thumbnail_time (for a video), thumbnail_frame (for an animation).")
            }
        }
        return SubmissionRequest.Attachment(
            identifier: reader.string("identifier", bytes: 0...128) ?? "", source: source,
            name: reader.string("name", bytes: 1...255).flatMap(FileName.cleaned),
            typeHint: reader.string("type_hint", bytes: 1...128),
            profile: inQuery ? nil : reader.profile(among: profiles),
            crop: crop(reader), trim: inQuery ? nil : trim(of: reader),
            thumbnailHidden: reader.bool("thumbnail_hidden") ?? false,
            thumbnailClippingRect: rect(reader, "thumbnail_clipping_rect"), thumbnailTime: time,
            thumbnailFrame: frame, encryption: inQuery ? nil : encryption(reader))
    }

    private func rect(_ reader: FieldReader, _ field: String) -> UnitRect? {
        guard let values = reader.object(field, known: ["x", "y", "width", "height"]) else { return nil }
        let missing = ["x", "y", "width", "height"].filter { values.value($0) == nil }
        for name in missing { values.addError(name, "Required: a rectangle has x, y, width and height.") }
        guard let x = values.number("x", in: 0...1), let y = values.number("y", in: 0...1),
            let width = values.number("width", in: 0...1), let height = values.number("height", in: 0...1)
        else { return nil }
        let rect = UnitRect(x: x, y: y, width: width, height: height)
        guard rect.isValid else {
            reader.addError(field, "Must not be empty, nor extend beyond 1 in either direction.")
            return nil
        }
        return rect
    }

    /// `"attention"`, `"centre"`, `{"rect": {x, y, width, height}}` or `{"focal_point": {x, y}}`.
    private func crop(_ reader: FieldReader) -> Crop? {
        guard let value = reader.value("crop") else { return nil }
        switch (value, value.text) {
        case (_, "attention"): return .attention
        case (_, "centre"), (_, "center"): return .centre
        case (.object, _):
            guard let choice = reader.object("crop", known: ["rect", "focal_point"]) else { return nil }
            switch choice.names {
            case ["rect"]: return rect(choice, "rect").map { .rect($0) }
            case ["focal_point"]:
                guard let point = choice.object("focal_point", known: ["x", "y"]) else { return nil }
                for name in ["x", "y"] where point.value(name) == nil {
                    point.addError(name, "Required: a point has x and y.")
                }
                guard let x = point.number("x", in: 0...1), let y = point.number("y", in: 0...1) else { return nil }
                return .focalPoint(x: x, y: y)
            default: break
            }
        default: break
        }
        reader.addError(
            "crop", "Must be one of 'attention', 'centre', a rectangle (rect), a point (focal_point).")
        return nil
    }

    /// What a part of a clip or of an animation may be around.
    private enum TrimCentre: String, CaseIterable {
        case thumbnailTime = "thumbnail_time"
    }

    private func trim(of attachment: FieldReader) -> TrimRequest? {
        guard let reader = attachment.object("trim", known: ["start", "duration", "end", "around"]) else { return nil }
        return trim(reader, thumbnailTime: attachment.value("thumbnail_time"))
    }

    /// - Parameter thumbnailTime: The attachment's, as it was given.
    private func trim(_ reader: FieldReader, thumbnailTime: JSONValue?) -> TrimRequest? {
        let start = reader.number("start", in: SubmissionBounds.time) ?? 0
        let duration = reader.number("duration", in: SubmissionBounds.time)
        let end = reader.number("end", in: SubmissionBounds.time)
        if let duration, duration <= 0 {
            reader.addError("duration", "Must be more than 0.")
            return nil
        }
        if reader.value("around") != nil {
            let excluded = ["start", "end"].filter { reader.value($0) != nil }
            for name in excluded { reader.addError(name, "Must be omitted with 'around'. Use a duration.") }
            if thumbnailTime == nil {
                reader.addError("around", "Only allowed together with a thumbnail_time.")
            }
            guard reader.choice("around", TrimCentre.self) != nil, excluded.isEmpty, thumbnailTime != nil else {
                return nil
            }
            return TrimRequest(start: nil, duration: duration)
        }
        if reader.value("duration") != nil, reader.value("end") != nil {
            reader.addError("end", "Must be omitted if there is a duration.")
            return nil
        }
        if let end, end <= start {
            reader.addError("end", "Must be after the start.")
            return nil
        }
        return TrimRequest(start: start, duration: duration ?? end.map { $0 - start })
    }
}

extension SubmissionReader {
    init(_ service: Service) {
        profiles = service.profiles.map(\.name)
        leaseTTL = service.settings.leaseTTL
        webhooks = service.webhooks
    }
}

extension FieldReader.Naming {
    /// The object itself.
    fileprivate var container: String {
        switch self {
        case .pointer(let pointer): pointer
        case .parameter(let prefix): prefix + "*"
        }
    }
}
