public import Foundation

extension SatchelResponses {
    /// What the service says to a response.
    public struct Answer: Sendable, Hashable, Decodable {
        /// The response's.
        public var id: UUID
        /// What becomes of the notification.
        public var then: Option
        /// What can be done with it from now on, in the order in which it is shown.
        public var actions: [SatchelCategories.Action]
        /// What it shows from now on.
        public var view: View
        public var decidedBy: Decider
    }

    /// What an opened notification shows beside its media, as the category's handler decides.
    public struct View: Sendable, Hashable, Decodable {
        /// Degrees that the medium is turned, clockwise.
        public var rotation: Double
        /// Of the medium: 0…1.
        public var opacity: Double
        /// The identifier of the medium that is shown; nil for the first.
        public var attachment: String?
        /// Each stands in for the notification's own; nil: that one.
        public var title: String?
        public var subtitle: String?
        public var body: String?
        /// A line of the view's own.
        public var label: Label?
    }

    /// A line of text in a view.
    public struct Label: Sendable, Hashable, Decodable {
        public var text: String
        /// Nil for that of other text.
        public var color: Color?
    }
}

// Names that may grow, like those of the other values.

extension SatchelResponses {
    /// What becomes of a notification after a response: `UNNotificationContentExtensionResponseOption`. What a newer service
    /// says beyond these means ``forward``.
    public struct Option: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// It stays open: `doNotDismiss`.
        public static let stay: Option = "stay"
        /// It closes, and the app hears nothing: `dismiss`.
        public static let dismiss: Option = "dismiss"
        /// It closes, and the app gets the response: `dismissAndForwardAction`.
        public static let forward: Option = "forward"
    }

    /// Who decided what becomes of a notification.
    public struct Decider: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: String) {
            rawValue = value
        }

        public static let handler: Decider = "handler"
        /// Nobody was asked, or nobody answered: it is forwarded.
        public static let `default`: Decider = "default"
    }

    /// A colour by its name among UIKit's: `red` is `systemRed`.
    public struct Color: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: String) {
            rawValue = value
        }

        public static let red: Color = "red"
        public static let orange: Color = "orange"
        public static let yellow: Color = "yellow"
        public static let green: Color = "green"
        public static let blue: Color = "blue"
        public static let purple: Color = "purple"
        public static let gray: Color = "gray"
    }
}
