public import Foundation

/// How far an upload is.
public struct UploadState: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        rawValue = value
    }

    public static let open: UploadState = "open"
    /// All bytes are there, and belong to no job yet.
    public static let complete: UploadState = "complete"
    /// A job or a notification has it.
    public static let consumed: UploadState = "consumed"
    public static let expired: UploadState = "expired"
    public static let failed: UploadState = "failed"
    public static let cancelled: UploadState = "cancelled"
}

/// A file that arrives in as many requests as it takes.
public struct Upload: Sendable, Hashable, Decodable, Identifiable {
    public var id: String
    /// Where it is sent to: only in the answer to ``SatchelClient/openUpload(_:)``.
    public var url: URL?
    public var state: UploadState
    /// Bytes of the whole; nil while nobody has said.
    public var length: Int64?
    /// Bytes that are durable.
    public var offset: Int64
    public var name: String?
    public var typeHint: String?
    /// Lower-case hexadecimal.
    public var sha256: String?
    /// The job that is submitted once it is complete.
    public var job: String?
    public var usedBy: String?
    public var createdAt: Date
    public var expiresAt: Date
    public var finishedAt: Date?
    public var error: ErrorReport?
}

/// An upload that is to come.
public struct UploadRequest: Sendable, Hashable, Encodable {
    /// Bytes of the whole, where they are known.
    public var length: Int64?
    public var name: String?
    public var typeHint: String?
    /// What its bytes have to have, in hexadecimal.
    public var sha256: String?
    /// Seconds until it expires; nil for a day.
    public var ttl: TimeInterval?

    public init(
        length: Int64? = nil, name: String? = nil, typeHint: String? = nil, sha256: String? = nil,
        ttl: TimeInterval? = nil
    ) {
        self.length = length
        self.name = name
        self.typeHint = typeHint
        self.sha256 = sha256
        self.ttl = ttl
    }
}
