/// What a notification is to do with the attachment: the counterparts of UNNotificationAttachment's options.
///
/// The rectangle and the time refer to the output; ``RenditionRequest`` holds what the client asked for in terms of
/// the source.
public struct DisplayOptions: Hashable, Sendable, Codable {
    /// The UTI of the rendition to show.
    @Nullable public var typeHint: String?
    public var thumbnailHidden: Bool
    @Nullable public var thumbnailClippingRect: UnitRect?
    /// Seconds, or a frame number for an animation.
    @Nullable public var thumbnailTime: Double?

    public init(
        typeHint: String? = nil, thumbnailHidden: Bool = false, thumbnailClippingRect: UnitRect? = nil,
        thumbnailTime: Double? = nil
    ) {
        self.typeHint = typeHint
        self.thumbnailHidden = thumbnailHidden
        self.thumbnailClippingRect = thumbnailClippingRect
        self.thumbnailTime = thumbnailTime
    }
}
