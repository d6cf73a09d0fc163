import SatchelCore

extension NotificationID {
    static let a = NotificationID(rawValue: "a")
}

extension Occurrence {
    static func at(_ instant: Instant) -> Occurrence {
        Occurrence(at: instant, local: nil, note: nil, position: .instant(instant))
    }
}

extension NewNotification {
    /// One that is fired by hand where there is no occurrence.
    static func sample(
        _ id: String, tenant: TenantID = .local, body: String = "1", handover: String? = nil, category: String? = nil,
        attachments: [AttachmentID] = [], next: Occurrence? = nil, rules: TimeZoneRulesVersion? = nil,
        acceptedAt: Instant
    ) -> NewNotification {
        NewNotification(
            id: NotificationID(rawValue: id), tenant: tenant, bodyDigest: body,
            submission: NotificationSubmission(
                payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil,
                onFailure: .drop, deadline: 10, media: [], trigger: .manual, lateLimit: 3600,
                handover: handover, metadata: [:], category: category, traceparent: nil),
            job: nil, attachments: attachments, next: next, rules: rules, acceptedAt: acceptedAt)
    }
}
