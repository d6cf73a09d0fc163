/// What a person did with a notification on one device.
public struct NotificationResponse: Hashable, Sendable, Codable {
    /// A UUID in lower case; the same response comes with the same id again.
    public var id: String
    /// A UUID in lower case: one opened notification on one device.
    public var session: String
    public var action: ResponseAction
    /// What was typed, where the action asks for a text.
    @Nullable public var text: String?
    /// JSON as it came, for handler and back end; nobody looks at it here.
    @Nullable public var data: String?
    /// When it was done, by the device's clock.
    @Nullable public var at: Instant?

    public init(
        id: String, session: String, action: ResponseAction, text: String? = nil, data: String? = nil,
        at: Instant? = nil
    ) {
        self.id = id
        self.session = session
        self.action = action
        self.text = text
        self.data = data
        self.at = at
    }
}

/// What a response may have at the most.
public enum ResponseLimits {
    /// Characters.
    public static let text = 2_000
    /// Bytes.
    public static let data = 1_024
}

/// Which action a response is: one of the system's own, or one that the notification offers.
public enum ResponseAction: Hashable, Sendable {
    /// The notification was opened: `default`.
    case open
    /// It was dismissed without one of its actions: `dismiss`.
    case dismiss
    case offered(id: String)

    /// Reads a name, ours or Apple's.
    public init(_ name: String) {
        switch name {
        case "default", "com.apple.UNNotificationDefaultActionIdentifier": self = .open
        case "dismiss", "com.apple.UNNotificationDismissActionIdentifier": self = .dismiss
        default: self = .offered(id: name)
        }
    }

    /// Whether the category's handler decides what becomes of it, where it has one; the system's own are the app's.
    public var isForHandler: Bool {
        switch self {
        case .open, .dismiss: false
        case .offered: true
        }
    }

    public var name: String {
        switch self {
        case .open: "default"
        case .dismiss: "dismiss"
        case .offered(let id): id
        }
    }
}

extension ResponseAction: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        try name.encode(to: encoder)
    }
}

/// Why a response can't be taken.
public enum ResponseRefusal: Error, Hashable, Sendable {
    /// It is none of what can be done now, which are these.
    case unknownAction(String, current: [String])
    /// The action asks for no text, and got one.
    case textNotTaken(action: String)

    /// For the sender: what to do differently.
    public var message: String {
        switch self {
        case .unknownAction(let name, let current):
            "The action '\(name.prefix(CategoryLimits.name.upperBound))' is not available now. Use one of \(current.joined(separator: ", "))."
        case .textNotTaken(let action):
            "The action '\(action)' has no text input. Omit 'text'."
        }
    }
}
