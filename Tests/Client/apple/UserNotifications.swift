// What the client and the example use of UserNotifications, where Apple's headers have it: `API_UNAVAILABLE(tvos)` is left out there.
public import AppleFoundation

open class UNNotificationContent: NSObject, NSMutableCopying {
    #if !os(tvOS)
        public internal(set) var userInfo: [AnyHashable: Any] = [:]
        public internal(set) var attachments: [UNNotificationAttachment] = []
        public internal(set) var categoryIdentifier = ""
    #endif

    public func mutableCopy(with zone: NSZone?) -> Any {
        let copy = UNMutableNotificationContent()
        #if !os(tvOS)
            copy.kept = userInfo
            if let self = self as? UNMutableNotificationContent { copy.title = self.title }
        #endif
        return copy
    }
}

open class UNMutableNotificationContent: UNNotificationContent {
    open var title = ""
    open var threadIdentifier = ""
    open var subtitle = ""

    #if !os(tvOS)
        var kept: [AnyHashable: Any] = [:]
        var shown: [UNNotificationAttachment] = []

        open override var userInfo: [AnyHashable: Any] {
            get { kept }
            set { kept = newValue }
        }

        open override var attachments: [UNNotificationAttachment] {
            get { shown }
            set { shown = newValue }
        }
    #endif
}

open class UNNotificationRequest: NSObject {
    public let content: UNNotificationContent

    public init(content: UNNotificationContent) {
        self.content = content
    }
}

open class UNNotification: NSObject {
    public let request: UNNotificationRequest

    public init(request: UNNotificationRequest) {
        self.request = request
    }
}

#if !os(tvOS)
    public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
    public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

    open class UNNotificationResponse: NSObject {
        public let notification: UNNotification
        public let actionIdentifier: String

        public init(notification: UNNotification, actionIdentifier: String) {
            self.notification = notification
            self.actionIdentifier = actionIdentifier
        }
    }

    open class UNTextInputNotificationResponse: UNNotificationResponse {
        public let userText: String

        public init(notification: UNNotification, actionIdentifier: String, userText: String) {
            self.userText = userText
            super.init(notification: notification, actionIdentifier: actionIdentifier)
        }
    }

    public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
        func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping () -> Void
        )

        func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
        )
    }

    // Both methods are optional in Apple's header.
    extension UNUserNotificationCenterDelegate {
        public func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
        ) {}
    }

    public struct UNNotificationPresentationOptions: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
        public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
        public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
    }

    public struct UNAuthorizationOptions: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
        public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
    }
#endif

#if !os(tvOS)
    public let UNNotificationAttachmentOptionsTypeHintKey = "hint"
    public let UNNotificationAttachmentOptionsThumbnailHiddenKey = "hidden"
    public let UNNotificationAttachmentOptionsThumbnailClippingRectKey = "rectangle"
    public let UNNotificationAttachmentOptionsThumbnailTimeKey = "time"

    open class UNNotificationAttachment: NSObject {
        public let identifier: String
        public let url: URL
        public let options: [AnyHashable: Any]

        /// Refuses a file that says so.
        public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
            let content = try String(contentsOf: url, encoding: .utf8)
            if content.contains("refused") { throw CocoaError(.fileReadCorruptFile) }
            self.identifier = identifier
            self.url = url
            self.options = options ?? [:]
        }
    }

    open class UNNotificationServiceExtension: NSObject {
        public override init() {}

        open func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {}

        open func serviceExtensionTimeWillExpire() {}
    }
#endif

#if !os(tvOS)
    /// As an option set of Apple's.
    public struct UNNotificationCategoryOptions: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let customDismissAction = UNNotificationCategoryOptions(rawValue: 1 << 0)
        public static let allowInCarPlay = UNNotificationCategoryOptions(rawValue: 1 << 1)
        #if !os(watchOS)
            public static let hiddenPreviewsShowTitle = UNNotificationCategoryOptions(rawValue: 1 << 2)
            public static let hiddenPreviewsShowSubtitle = UNNotificationCategoryOptions(rawValue: 1 << 3)
        #endif
        @available(*, deprecated)
        public static let allowAnnouncement = UNNotificationCategoryOptions(rawValue: 1 << 4)
    }

    public struct UNNotificationActionOptions: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1 << 0)
        public static let destructive = UNNotificationActionOptions(rawValue: 1 << 1)
        public static let foreground = UNNotificationActionOptions(rawValue: 1 << 2)
    }

    open class UNNotificationActionIcon: NSObject {
        public let facts: [String]

        public init(templateImageName: String) {
            facts = ["template", templateImageName]
        }

        public init(systemImageName: String) {
            facts = ["system", systemImageName]
        }
    }

    open class UNNotificationAction: NSObject {
        public private(set) var facts: [String]

        public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
            self.init(identifier: identifier, title: title, options: options, icon: nil)
        }

        public init(
            identifier: String, title: String, options: UNNotificationActionOptions = [],
            icon: UNNotificationActionIcon?
        ) {
            facts = [identifier, title, "\(options.rawValue)"] + (icon?.facts ?? [])
        }

        fileprivate func add(_ more: String...) {
            facts += more
        }
    }

    open class UNTextInputNotificationAction: UNNotificationAction {
        public convenience init(
            identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
            textInputPlaceholder: String
        ) {
            self.init(
                identifier: identifier, title: title, options: options, icon: nil,
                textInputButtonTitle: textInputButtonTitle, textInputPlaceholder: textInputPlaceholder)
        }

        public convenience init(
            identifier: String, title: String, options: UNNotificationActionOptions = [],
            icon: UNNotificationActionIcon?, textInputButtonTitle: String, textInputPlaceholder: String
        ) {
            self.init(identifier: identifier, title: title, options: options, icon: icon)
            add("input", textInputButtonTitle, textInputPlaceholder)
        }
    }

    open class UNNotificationCategory: NSObject {
        /// All that it was made of.
        public let facts: [[String]]

        public init(
            identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
            options: UNNotificationCategoryOptions = []
        ) {
            facts = [[identifier, "\(options.rawValue)"], intentIdentifiers, []] + actions.map(\.facts)
        }

        #if !os(watchOS)
            public convenience init(
                identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
                hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
            ) {
                self.init(
                    identifier: identifier, actions: actions, intentIdentifiers: intentIdentifiers,
                    hiddenPreviewsBodyPlaceholder: hiddenPreviewsBodyPlaceholder, categorySummaryFormat: nil,
                    options: options)
            }

            public init(
                identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
                hiddenPreviewsBodyPlaceholder: String?, categorySummaryFormat: String?,
                options: UNNotificationCategoryOptions = []
            ) {
                let texts = [hiddenPreviewsBodyPlaceholder, categorySummaryFormat].map { $0 ?? "" }
                facts =
                    [[identifier, "\(options.rawValue)"], intentIdentifiers, texts == ["", ""] ? [] : texts]
                    + actions.map(\.facts)
            }
        #endif
    }

    open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
        private static let only = UNUserNotificationCenter()
        public private(set) var categories: Set<UNNotificationCategory> = []
        open weak var delegate: (any UNUserNotificationCenterDelegate)?

        public class func current() -> UNUserNotificationCenter { only }

        open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
            self.categories = categories
        }

        open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { true }
    }
#endif
