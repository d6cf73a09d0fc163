import SatchelCore
import Payloads

/// A notification as the client worded it: every field was checked, nothing was looked up or received yet.
///
/// Encoded it is the canonical form of the body, which tells two bodies of one id apart.
struct NotificationRequest: Hashable, Sendable, Encodable {
    /// When media are prepared.
    enum Preparation: String, Hashable, Sendable, Encodable, CaseIterable {
        /// At acceptance, once for all firings.
        case now
        /// Anew for each firing, ahead of it.
        case each
    }

    /// JSON, byte for byte.
    var payload: String
    var format: PayloadFormat
    var pushType: PushType
    var expiresIn: Double
    var delivery: DeliveryMode
    /// Of what is prepared for it; nil: it stays in the clear.
    var encrypt: EncryptionScheme?
    var profile: String?
    var onFailure: FailureMode
    var deadline: Double
    /// Those that are to be prepared.
    var attachments: [SubmissionRequest.Attachment]
    /// Those that were, by their identifiers in this notification.
    var prepared: [String: AttachmentID]
    /// The identifiers of all, in the order in which they came.
    var identifiers: [String]
    var trigger: Trigger?
    var preparation: Preparation
    /// Seconds before each firing at which its media are prepared; nil where they are at acceptance.
    var lead: Double?
    var lateLimit: Double
    var handover: String?
    var metadata: [String: String]
}

/// The bounds of a notification's fields.
enum NotificationBounds {
    /// Seconds after its instant within which it still fires.
    static let lateLimit = 1.0...86_400.0
    static let defaultLateLimit = 3600.0
    static let defaultLife = PayloadRequest.defaultLife
    /// Seconds before each firing at which its media are prepared.
    static let leads = 5.0...3600.0
    static let defaultLead = 120.0
}

/// Reads notifications from a JSON object, and tells everything that is wrong at once.
struct NotificationReader {
    private let submissions: SubmissionReader
    private var errors: ValidationErrors { submissions.errors }

    private static let fields = [
        "payload", "format", "push_type", "expires_in", "delivery", "encrypt", "profile", "on_failure", "deadline",
        "attachments", "trigger", "prepare", "lead", "late_limit", "handover", "metadata",
    ]
    private static let attachmentFields = SubmissionReader.attachmentFields + ["attachment_id"]

    init(_ service: Service) {
        submissions = SubmissionReader(service)
    }

    /// - Throws: A problem that names every field which can't be taken.
    func notification(_ body: some Sequence<UInt8>, hasParts: Bool) throws(Problem) -> NotificationRequest {
        let reader = try FieldReader(body: body, known: Self.fields, errors)
        let format = reader.choice("format", PayloadFormat.self) ?? .apns
        var payload: [UInt8] = []
        if let value = reader.value("payload") {
            if value.isObject || (format == .expo && value.isArray) {
                payload = value.bytes
            } else {
                reader.addError("payload", "Must be \(format.form).")
            }
        } else {
            reader.addError("payload", "Required. Must be \(format.form).")
        }
        let pushType = reader.choice("push_type", PushType.self)
        if format != .apns, pushType != nil {
            reader.addError("push_type", "Only allowed with 'format': 'apns'.")
        }
        let preparation = reader.choice("prepare", NotificationRequest.Preparation.self) ?? .now
        let (attachments, prepared, identifiers) = attachments(
            reader, hasParts: hasParts, takesParts: preparation == .now)
        var lead = reader.number("lead", in: NotificationBounds.leads)
        switch preparation {
        case .now where reader.value("lead") != nil:
            reader.addError("lead", "Only allowed with 'prepare': 'each'.")
        case .now: break
        case .each: lead = lead ?? NotificationBounds.defaultLead
        }
        let handover = reader.object("handover", known: ["url"])
        if let handover, handover.value("url") == nil {
            handover.addError("url", "Required: the URL to call.")
        }
        let request = NotificationRequest(
            payload: String(decoding: payload, as: UTF8.self),
            format: format, pushType: pushType ?? .alert,
            expiresIn: reader.number("expires_in", in: PayloadRequest.lives) ?? NotificationBounds.defaultLife,
            delivery: reader.choice("delivery", DeliveryMode.self) ?? .private,
            encrypt: reader.choice("encrypt", among: EncryptionScheme.ofRenditions),
            profile: reader.profile(among: submissions.profiles),
            onFailure: reader.choice("on_failure", FailureMode.self) ?? .drop,
            deadline: reader.number("deadline", in: PayloadRequest.deadlines) ?? PayloadRequest.defaultDeadline,
            attachments: attachments, prepared: prepared, identifiers: identifiers,
            trigger: TriggerReader.written("trigger", of: reader),
            preparation: preparation, lead: lead,
            lateLimit: reader.number("late_limit", in: NotificationBounds.lateLimit)
                ?? NotificationBounds.defaultLateLimit,
            handover: handover.flatMap { $0.webhookURL("url", submissions.webhooks) },
            metadata: reader.object("metadata", known: nil).map(submissions.pairs) ?? [:])
        try errors.check()
        return request
    }

    private func attachments(
        _ reader: FieldReader, hasParts: Bool, takesParts: Bool
    ) -> ([SubmissionRequest.Attachment], [String: AttachmentID], [String]) {
        var attachments: [SubmissionRequest.Attachment] = []
        var prepared: [String: AttachmentID] = [:]
        var identifiers: [String] = []
        let readers = reader.objects("attachments", known: Self.attachmentFields) ?? []
        if readers.count > JobSubmission.maximumAttachments {
            reader.addError(
                "attachments",
                "Must be at most \(JobSubmission.maximumAttachments) attachments, not \(readers.count).")
        }
        for attachment in readers {
            let identifier = attachment.string("identifier", bytes: 1...128) ?? ""
            if attachment.value("identifier") == nil {
                attachment.addError("identifier", "Required. The payload refers to it as 'cid:IDENTIFIER'.")
            } else if identifiers.contains(identifier) {
                attachment.addError(
                    "identifier", "Must be unique. Another attachment of the notification has this identifier.")
            }
            identifiers.append(identifier)
            guard attachment.value("attachment_id") != nil else {
                let source = submissions.source(attachment, hasParts: hasParts)
                if case .url = source {
                } else if !takesParts {
                    attachment.addError(
                        attachment.value("part") == nil ? "upload" : "part",
                        "Not allowed with 'prepare': 'each', which fetches sources again for each firing. Use a url, or the attachment_id of a prepared attachment."
                    )
                }
                attachments.append(submissions.attachment(attachment, source: source))
                continue
            }
            for name in attachment.names where name != "identifier" && name != "attachment_id" {
                attachment.addError(
                    name, "Must be omitted. An attachment with an attachment_id has only that and an identifier.")
            }
            if let id = attachment.string("attachment_id", bytes: 1...64) {
                prepared[identifier] = AttachmentID(rawValue: id)
            }
        }
        return (attachments, prepared, identifiers)
    }
}
