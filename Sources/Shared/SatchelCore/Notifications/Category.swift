/// What `aps.category` stands for: what can be done with a notification, how it is shown where it is opened, and who answers.
///
/// The counterpart of UNNotificationCategory and of a Notification Content extension's Info.plist. Its texts and numbers are
/// within ``CategoryLimits``.
public struct Category: Hashable, Sendable, Codable {
    /// As a payload names it in `aps.category`; unique in its tenant.
    public var id: String
    public var options: [CategoryOption]
    /// Intent identifiers, of SiriKit.
    public var intents: [String]
    /// Shown for the body where previews are hidden.
    @Nullable public var hiddenBody: String?
    /// Says how many notifications a group has: `%u more messages from %@`.
    @Nullable public var summaryFormat: String?
    /// Of the media in payloads of this category that name no profile; before the setting `categories`.
    @Nullable public var profile: String?
    /// In the order in which they are shown; each with another id.
    public var actions: [CategoryAction]
    /// Nil where the system shows the notification as it does by itself.
    @Nullable public var `extension`: ContentExtension?
    /// Nil where nobody is told what a person did.
    @Nullable public var responses: ResponseSettings?

    public init(
        id: String, options: [CategoryOption] = [], intents: [String] = [], hiddenBody: String? = nil,
        summaryFormat: String? = nil, profile: String? = nil, actions: [CategoryAction] = [],
        extension contentExtension: ContentExtension? = nil, responses: ResponseSettings? = nil
    ) {
        self.id = id
        self.options = options
        self.intents = intents
        self.hiddenBody = hiddenBody
        self.summaryFormat = summaryFormat
        self.profile = profile
        self.actions = actions
        self.extension = contentExtension
        self.responses = responses
    }
}

/// UNNotificationCategoryOptions.
public enum CategoryOption: String, Hashable, Sendable, Codable, CaseIterable {
    /// A dismissal is told to the app.
    case customDismissAction = "custom_dismiss_action"
    case hiddenPreviewsShowTitle = "hidden_previews_show_title"
    case hiddenPreviewsShowSubtitle = "hidden_previews_show_subtitle"
    case allowInCarPlay = "allow_in_car_play"
    /// Siri may read it out. Deprecated since iOS 15, where it needs no asking.
    case allowAnnouncement = "allow_announcement"
}

/// Something that a person can do with a notification: UNNotificationAction.
public struct CategoryAction: Hashable, Sendable, Codable {
    public var id: String
    public var title: String
    @Nullable public var icon: ActionIcon?
    public var options: [ActionOption]
    /// Where it asks for a text: UNTextInputNotificationAction.
    @Nullable public var textInput: TextInput?

    public init(
        id: String, title: String, icon: ActionIcon? = nil, options: [ActionOption] = [], textInput: TextInput? = nil
    ) {
        self.id = id
        self.title = title
        self.icon = icon
        self.options = options
        self.textInput = textInput
    }
}

/// UNNotificationActionOptions.
public enum ActionOption: String, Hashable, Sendable, Codable, CaseIterable {
    /// Opens the app.
    case foreground
    case destructive
    /// Asks for the device to be unlocked first.
    case authenticationRequired = "authentication_required"
}

/// UNNotificationActionIcon: `{"system": "arrow.clockwise"}`, `{"template": "Rotate"}`.
public enum ActionIcon: Hashable, Sendable {
    /// A symbol of SF Symbols, by its name.
    case system(String)
    /// An image in the app's bundle, by its name.
    case template(String)
}

/// The field and the button of an action that asks for a text.
public struct TextInput: Hashable, Sendable, Codable {
    public var buttonTitle: String
    public var placeholder: String

    public init(buttonTitle: String, placeholder: String = "") {
        self.buttonTitle = buttonTitle
        self.placeholder = placeholder
    }
}

/// What a Notification Content extension's Info.plist says, and the controls of its view. A flag that is nil means false.
public struct ContentExtension: Hashable, Sendable, Codable {
    /// Height by width of its view before anything is laid out.
    public var initialContentSizeRatio: Double
    @Nullable public var defaultContentHidden: Bool?
    @Nullable public var overridesDefaultTitle: Bool?
    @Nullable public var userInteraction: Bool?
    public var controls: [ContentControl]

    public init(
        initialContentSizeRatio: Double = 1, defaultContentHidden: Bool? = nil, overridesDefaultTitle: Bool? = nil,
        userInteraction: Bool? = nil, controls: [ContentControl] = []
    ) {
        self.initialContentSizeRatio = initialContentSizeRatio
        self.defaultContentHidden = defaultContentHidden
        self.overridesDefaultTitle = overridesDefaultTitle
        self.userInteraction = userInteraction
        self.controls = controls
    }
}

/// A control in a content extension's view, for the preview. An app's own view is its code.
public enum ContentControl: Hashable, Sendable {
    case button(title: String, does: ButtonEffect)
    /// `value` is where it begins, from `minimum` to `maximum`.
    case slider(title: String, sets: SliderTarget, minimum: Double, maximum: Double, value: Double)
}

public enum ButtonEffect: String, Hashable, Sendable, Codable, CaseIterable {
    /// Opens the app: the default action.
    case open
    /// Closes the notification; no response.
    case dismiss
    /// Closes it and takes it out of Notification Center.
    case remove
}

public enum SliderTarget: String, Hashable, Sendable, Codable, CaseIterable {
    case opacity
}

/// Who is told what people do with a category's notifications, and how.
public struct ResponseSettings: Hashable, Sendable, Codable {
    /// Stands for the content extension; nil: all is forwarded.
    @Nullable public var handler: ResponseHandler?
    /// Gets the responses that the app would get.
    @Nullable public var forward: ResponseForward?
    /// Whether a response's text and data are kept once it was forwarded.
    public var recordText: Bool
    /// Seconds that a notification takes responses.
    public var ttl: Double
    /// Responses a second that one firing takes.
    public var rate: Double

    public init(
        handler: ResponseHandler? = nil, forward: ResponseForward? = nil, recordText: Bool = true, ttl: Double = 86_400,
        rate: Double = 50
    ) {
        self.handler = handler
        self.forward = forward
        self.recordText = recordText
        self.ttl = ttl
        self.rate = rate
    }
}

public struct ResponseHandler: Hashable, Sendable, Codable {
    public var url: String
    /// Seconds that it has for an answer.
    public var timeout: Double

    public init(url: String, timeout: Double = 2) {
        self.url = url
        self.timeout = timeout
    }
}

public struct ResponseForward: Hashable, Sendable, Codable {
    public var url: String

    public init(url: String) {
        self.url = url
    }
}

/// What a category may have at the most.
public enum CategoryLimits {
    /// Of a tenant.
    public static let categories = 200
    /// Of a category. A device shows up to ten, and two in a banner.
    public static let actions = 10
    /// Of an extension.
    public static let controls = 6
    public static let intents = 16
    /// Bytes of an id, an icon's or an intent's name.
    public static let name = 1...128
    /// Bytes of a title or another text that is shown.
    public static let text = 256
    /// Height by width.
    public static let ratio = 0.05...10.0
    /// Seconds that a handler has for an answer.
    public static let timeout = 0.1...5.0
    /// Seconds that a notification takes responses: up to 30 days, as a link.
    public static let ttl = 60.0...2_592_000.0
    /// Responses a second.
    public static let rate = 0.1...1000.0
    /// Ids that an action can't have: those of the default action and of a dismissal, as responses name them and as Apple does.
    public static let reservedActions: Set = [
        "default", "dismiss", "com.apple.UNNotificationDefaultActionIdentifier",
        "com.apple.UNNotificationDismissActionIdentifier",
    ]
}

// MARK: On the wire

extension ActionIcon: Codable {
    private enum CodingKeys: CodingKey { case system, template }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let system = try container.decodeIfPresent(String.self, forKey: .system)
        self = try system.map { .system($0) } ?? .template(container.decode(String.self, forKey: .template))
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .system(let name): try ["system": name].encode(to: encoder)
        case .template(let name): try ["template": name].encode(to: encoder)
        }
    }
}

extension ContentControl: Codable {
    /// What `type` says.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case button
        case slider
    }

    private enum CodingKeys: CodingKey { case type, title, does, sets, minimum, maximum, value }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let title = try container.decode(String.self, forKey: .title)
        switch try container.decode(Kind.self, forKey: .type) {
        case .button:
            self = .button(title: title, does: try container.decode(ButtonEffect.self, forKey: .does))
        case .slider:
            self = .slider(
                title: title, sets: try container.decode(SliderTarget.self, forKey: .sets),
                minimum: try container.decode(Double.self, forKey: .minimum),
                maximum: try container.decode(Double.self, forKey: .maximum),
                value: try container.decode(Double.self, forKey: .value))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        let fields: JSONFields =
            switch self {
            case .button(let title, let effect): ["type": Kind.button, "title": title, "does": effect]
            case .slider(let title, let target, let minimum, let maximum, let value):
                [
                    "type": Kind.slider, "title": title, "sets": target, "minimum": minimum, "maximum": maximum,
                    "value": value,
                ]
            }
        try fields.encode(to: encoder)
    }
}

extension CategoryLimits {
    /// - Parameter count: Of the categories that a tenant has.
    /// - Throws: `quota_exceeded` where there can't be one more.
    public static func admit(_ count: Int) throws(AttachmentError) {
        try QuotaSubject.categories.admit(count, of: categories)
    }
}
