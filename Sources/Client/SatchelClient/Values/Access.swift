public import Foundation

/// An active lease, with URLs for plain GET requests. Stop it when you are done.
public struct Lease: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var attachmentID: String
    /// The grant with which it was started.
    public var grantID: String?
    public var startedAt: Date
    public var expiresAt: Date
    /// The rendition to show.
    public var best: RenditionRole?
    public var renditions: [RenditionRole: OpenRendition]

    /// Returns the URL of `role`, or of the rendition to show.
    public func url(of role: RenditionRole? = nil) -> URL? { rendition(role)?.url }

    /// Returns the rendition of `role`, or the one to show.
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
    /// The encryption of the file; `nil` if it is not encrypted.
    public var encryption: Encryption?
}

/// The right to start leases on an attachment and to derive narrower grants.
public struct Grant: Hashable, Sendable, Decodable, Identifiable {
    public var id: String
    public var attachmentID: String
    /// The grant that this one was derived from.
    public var parentID: String?
    /// The renditions; `nil` for all.
    public var renditions: [RenditionRole]?
    /// The maximum number of active leases.
    public var leaseLimit: Int
    public var createdAt: Date
    public var expiresAt: Date
    /// The token from which its holder creates a client. Protect it like a password.
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
