public import Foundation

/// A started access, with URLs that a plain GET can use. Stop it when you are done.
public struct Lease: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var attachmentID: String
    /// The grant it was started under.
    public var grantID: String?
    public var startedAt: Date
    public var expiresAt: Date
    /// The rendition to show.
    public var best: RenditionRole?
    public var renditions: [RenditionRole: OpenRendition]

    /// The URL of `role`, or of the rendition to show.
    public func url(of role: RenditionRole? = nil) -> URL? { rendition(role)?.url }

    /// The rendition of `role`, or the one to show.
    public func rendition(_ role: RenditionRole? = nil) -> OpenRendition? {
        if let role { return renditions[role] }
        return best.flatMap { renditions[$0] } ?? renditions[.main] ?? renditions.values.first
    }

    private enum CodingKeys: String, CodingKey {
        case id, startedAt, expiresAt, best, renditions
        // As the decoder turns `attachment_id`.
        case attachmentID = "attachmentId"
        case grantID = "grantId"
    }
}

/// A rendition that can be read now.
public struct OpenRendition: Hashable, Sendable, Decodable {
    public var uti: String
    public var mediaType: String
    public var bytes: Int64
    public var width: Int?
    public var height: Int?
    public var url: URL
    /// With what it is encrypted; nil where it isn't.
    public var encryption: Encryption?
}

/// A right to start leases on an attachment, and to pass on narrower grants.
public struct Grant: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var attachmentID: String
    /// The grant that this one was derived from.
    public var parentID: String?
    /// Nil: all renditions.
    public var renditions: [RenditionRole]?
    /// Live leases at most.
    public var leaseLimit: Int
    public var createdAt: Date
    public var expiresAt: Date
    /// What its holder makes a client from. Keep it like a password.
    public var token: String

    private enum CodingKeys: String, CodingKey {
        case id, renditions, leaseLimit, createdAt, expiresAt, token
        // As the decoder turns `attachment_id`.
        case attachmentID = "attachmentId"
        case parentID = "parentId"
    }
}

struct LeaseBody: Encodable {
    var attachmentID: String?
    var ttl: TimeInterval?
    var renditions: [RenditionRole]?

    private enum CodingKeys: String, CodingKey {
        case attachmentID = "attachmentId"
        case ttl, renditions
    }
}

struct GrantBody: Encodable {
    var ttl: TimeInterval?
    var renditions: [RenditionRole]?
    var leaseLimit: Int?
}
