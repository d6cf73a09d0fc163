public import SatchelCore

/// A rendition and the blob that has its bytes.
public struct PlacedRendition: Hashable, Sendable {
    public var blob: BlobName
    public var tenant: TenantID
    public var attachment: AttachmentID
    public var role: RenditionRole
    /// The path or name of the source, where it was looked up.
    public var path: String?
}
