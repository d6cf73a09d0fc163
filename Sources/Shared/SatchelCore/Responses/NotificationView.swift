/// What an opened notification shows beside its media, as its handler decides: the state of a content extension's view.
public struct NotificationView: Hashable, Sendable, Codable {
    /// Degrees that the medium is turned, clockwise.
    public var rotation = 0.0
    /// Of the medium: 0…1.
    public var opacity = 1.0
    /// The identifier of the medium that is shown; nil for the first.
    @Nullable public var attachment: String?
    /// Each stands in for the notification's own; nil: that one.
    @Nullable public var title: String?
    @Nullable public var subtitle: String?
    @Nullable public var body: String?
    /// A line of the view's own.
    @Nullable public var label: ViewLabel?

    /// What a handler names of a view; what it doesn't stays.
    public struct Change: Hashable, Sendable {
        public var rotation: Double?
        public var opacity: Double?
        public var attachment: String?
        public var title: String?
        public var subtitle: String?
        public var body: String?
        public var label: ViewLabel?

        public init(
            rotation: Double? = nil, opacity: Double? = nil, attachment: String? = nil, title: String? = nil,
            subtitle: String? = nil, body: String? = nil, label: ViewLabel? = nil
        ) {
            self.rotation = rotation
            self.opacity = opacity
            self.attachment = attachment
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.label = label
        }
    }

    public mutating func apply(_ change: Change) {
        rotation = change.rotation ?? rotation
        opacity = change.opacity ?? opacity
        attachment = change.attachment ?? attachment
        title = change.title ?? title
        subtitle = change.subtitle ?? subtitle
        body = change.body ?? body
        label = change.label ?? label
    }
}

/// A line of text in a view.
public struct ViewLabel: Hashable, Sendable, Codable {
    public var text: String
    /// Nil for that of other text.
    @Nullable public var color: ViewColor?

    public init(text: String, color: ViewColor? = nil) {
        self.text = text
        self.color = color
    }
}

/// One of the colours that every system has under its name, and shows legibly in light and dark: UIKit's `systemRed` and its
/// like.
public enum ViewColor: String, Hashable, Sendable, Codable, CaseIterable {
    case red, orange, yellow, green, blue, purple, gray
}
