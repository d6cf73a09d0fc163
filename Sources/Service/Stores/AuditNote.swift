internal import SatchelCore

/// An entry of the audit list before it is written.
struct AuditNote: Sendable {
    var tenant: TenantID
    var action: AuditEntry.Action
    var subject: AuditEntry.Subject
    var attachment: AttachmentID?
    /// Nil until the note is added: then the transaction's actor.
    var actor: AuditActor?
    var detail: String?

    /// - Parameter actor: Nil for the transaction's actor.
    init(
        _ action: AuditEntry.Action, _ kind: AuditEntry.Subject.Kind, _ id: String, of tenant: TenantID,
        attachment: AttachmentID? = nil, by actor: AuditActor? = nil, detail: String? = nil
    ) {
        self.tenant = tenant
        self.action = action
        subject = AuditEntry.Subject(kind, id)
        self.attachment = attachment
        self.actor = actor
        self.detail = detail
    }
}

extension AuditNote {
    static func made(_ key: APIKeyRecord) -> AuditNote {
        AuditNote(
            .made, .key, key.id, of: key.tenant, detail: "with \(key.roles.map(\.rawValue).joined(separator: ", "))")
    }

    static func rotated(_ key: String, into successor: APIKeyRecord) -> AuditNote {
        AuditNote(.rotated, .key, key, of: successor.tenant, detail: "its successor is \(successor.id)")
    }

    static func rotated(_ numbers: [SigningNumber], of tenant: TenantID) -> AuditNote {
        AuditNote(.rotated, .secret, "\(numbers.first?.number ?? 0)", of: tenant)
    }

    /// Nil for what isn't noted when it is made.
    static func made(_ access: AccessEntry) -> AuditNote? {
        access.kind == .grant
            ? AuditNote(.made, .grant, access.id, of: access.tenant, attachment: access.attachment) : nil
    }

    /// With all that was derived from it. Nil where it had ended before.
    static func revoked(_ access: AccessEntry) -> AuditNote? {
        guard access.endedAt == nil else { return nil }
        let kind: AuditEntry.Subject.Kind =
            switch access.kind {
            case .grant: .grant
            case .lease: .lease
            case .link: .link
            }
        return AuditNote(.revoked, kind, access.id, of: access.tenant, attachment: access.attachment)
    }

    /// Nil for what takes nothing back, and where it had ended before.
    static func revoked(_ upload: UploadRecord, by step: UploadStep, at now: Instant) -> AuditNote? {
        step == .cancel && upload.isLive(at: now)
            ? AuditNote(
                .revoked, .ticket, upload.ticket, of: upload.tenant, detail: "of the upload \(upload.id.rawValue)")
            : nil
    }

    static func deleted(_ attachment: AttachmentID, of tenant: TenantID, detail: String? = nil) -> AuditNote {
        AuditNote(
            .deleted, .attachment, attachment.rawValue, of: tenant, attachment: attachment, detail: detail)
    }

    /// - Parameter hash: Of the cookie, whose beginning tells one session from another.
    static func signedIn(_ session: ConsoleSession, hash: String) -> AuditNote {
        AuditNote(
            .signedIn, .session, String(hash.prefix(16)), of: session.tenant,
            by: session.key.map { AuditActor(.key, id: $0) } ?? AuditActor(.command))
    }
}
