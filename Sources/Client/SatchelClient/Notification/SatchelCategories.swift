public import Foundation

/// An app's notification categories as the service exports them: `GET /v1/categories?as=json`, or
/// `satchel category list --as json`. Put the file into the app's bundle, or load it from the app's own back end.
///
/// ```swift
/// try SatchelCategories.register(Data(contentsOf: file))
/// ```
public struct SatchelCategories: Sendable, Hashable, Decodable {
    public var categories: [Category]

    /// - Throws: `DecodingError` if the JSON is not an export.
    public init(json: Data) throws {
        self = try Wire.decode(SatchelCategories.self, from: json)
    }

    /// A category, named by `aps.category`.
    public struct Category: Sendable, Hashable, Decodable {
        public var id: String
        /// The names of options. Unknown names of newer services are ignored.
        public var options: [String]
        /// Intent identifiers.
        public var intents: [String]
        /// The text shown instead of the body if previews are hidden.
        public var hiddenBody: String?
        /// The format of a group's summary.
        public var summaryFormat: String?
        /// The actions in the order in which they are shown.
        public var actions: [Action]
    }

    /// An action of a notification.
    public struct Action: Sendable, Hashable, Decodable {
        public var id: String
        public var title: String
        public var icon: Icon?
        /// The names of options, as for ``Category/options``.
        public var options: [String]
        /// The text field, if the action asks for a text.
        public var textInput: TextInput?
    }

    /// An icon, which has one of the two.
    public struct Icon: Sendable, Hashable, Decodable {
        /// A symbol of SF Symbols, by its name.
        public var system: String?
        /// An image in the app's bundle, by its name.
        public var template: String?
    }

    /// The field and the button of an action that asks for a text.
    public struct TextInput: Sendable, Hashable, Decodable {
        public var buttonTitle: String
        public var placeholder: String
    }
}

// Options by their bits in Apple's headers: not every system has all of the names, and one is deprecated.

extension SatchelCategories.Category {
    private static let bits: [String: UInt] = [
        "custom_dismiss_action": 1 << 0, "allow_in_car_play": 1 << 1, "hidden_previews_show_title": 1 << 2,
        "hidden_previews_show_subtitle": 1 << 3, "allow_announcement": 1 << 4,
    ]

    /// Of UNNotificationCategoryOptions.
    var optionBits: UInt { options.reduce(0) { $0 | Self.bits[$1, default: 0] } }
}

extension SatchelCategories.Action {
    private static let bits: [String: UInt] = [
        "authentication_required": 1 << 0, "destructive": 1 << 1, "foreground": 1 << 2,
    ]

    /// Of UNNotificationActionOptions.
    var optionBits: UInt { options.reduce(0) { $0 | Self.bits[$1, default: 0] } }
}
