public import Foundation

/// The state of an upload.
public struct UploadState: OpenName {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let open: UploadState = "open"
    /// All bytes are stored, and no job uses them yet.
    public static let complete: UploadState = "complete"
    /// A job or notification uses it.
    public static let consumed: UploadState = "consumed"
    public static let expired: UploadState = "expired"
    public static let failed: UploadState = "failed"
    public static let cancelled: UploadState = "cancelled"
}

/// A file that is sent in one or more requests.
public struct Upload: Sendable, Hashable, Decodable, Identifiable {
    public var id: String
    /// The URL to send the file to. Only ``SatchelClient/openUpload(_:)`` returns it.
    public var url: URL?
    public var state: UploadState
    /// The size of the file; `nil` if it is not known yet.
    public var length: Int64?
    /// The number of bytes stored durably.
    public var offset: Int64
    public var name: String?
    public var typeHint: String?
    /// The hash in lowercase hexadecimal.
    public var sha256: String?
    /// The job to submit once the upload is complete.
    public var job: String?
    public var usedBy: String?
    public var createdAt: Date
    public var expiresAt: Date
    public var finishedAt: Date?
    public var error: ErrorReport?
}

/// A request for an upload.
public struct UploadRequest: Sendable, Hashable, Encodable {
    /// The size of the file, if known.
    public var length: Int64?
    public var name: String?
    public var typeHint: String?
    /// The required hash of the file, in hexadecimal.
    public var sha256: String?
    /// The lifetime in seconds; `nil` for one day.
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
