public import Foundation

extension SatchelResponses {
    /// The service's answer to a response.
    public struct Answer: Sendable, Hashable, Decodable {
        /// The session of the response.
        public var id: UUID
        /// What happens to the notification.
        public var then: Option
        /// The actions to offer from now on, in order.
        public var actions: [SatchelCategories.Action]
        /// What the notification shows from now on.
        public var view: View
        public var decidedBy: Decider
    }

    /// How an opened notification is shown, as the category's handler decides.
    public struct View: Sendable, Hashable, Decodable {
        /// The clockwise rotation of the medium, in degrees.
        public var rotation: Double
        /// The opacity of the medium, from 0 to 1.
        public var opacity: Double
        /// The identifier of the medium to show; `nil` for the first.
        public var attachment: String?
        /// The texts to show; `nil` for those of the notification.
        public var title: String?
        public var subtitle: String?
        public var body: String?
        /// An additional line of text.
        public var label: Label?
    }

    /// A line of text in a view.
    public struct Label: Sendable, Hashable, Decodable {
        public var text: String
        /// The color; `nil` for the default.
        public var color: Color?
    }
}

extension SatchelResponses {
    /// What happens to a notification after a response: `UNNotificationContentExtensionResponseOption`. Unknown values of newer
    /// services mean ``forward``.
    public struct Option: OpenName {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// It stays open: `doNotDismiss`.
        public static let stay: Option = "stay"
        /// It closes, and the app hears nothing: `dismiss`.
        public static let dismiss: Option = "dismiss"
        /// It closes, and the app gets the response: `dismissAndForwardAction`.
        public static let forward: Option = "forward"
    }

    /// What made the decision about a notification.
    public struct Decider: OpenName {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let handler: Decider = "handler"
        /// There is no handler, or it did not answer. The response is forwarded.
        public static let `default`: Decider = "default"
    }

    /// A colour by its name among UIKit's: `red` is `systemRed`.
    public struct Color: OpenName {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let red: Color = "red"
        public static let orange: Color = "orange"
        public static let yellow: Color = "yellow"
        public static let green: Color = "green"
        public static let blue: Color = "blue"
        public static let purple: Color = "purple"
        public static let gray: Color = "gray"
    }
}
