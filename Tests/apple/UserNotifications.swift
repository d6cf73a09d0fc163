// What the client uses of UserNotifications, where Apple's headers have it: `API_UNAVAILABLE(tvos)` is left out there.
public import AppleFoundation

open class UNNotificationContent: NSObject, NSMutableCopying {
    #if !os(tvOS)
        public internal(set) var userInfo: [AnyHashable: Any] = [:]
        public internal(set) var attachments: [UNNotificationAttachment] = []
    #endif

    public func mutableCopy(with zone: NSZone?) -> Any {
        let copy = UNMutableNotificationContent()
        #if !os(tvOS)
            copy.kept = userInfo
        #endif
        return copy
    }
}

open class UNMutableNotificationContent: UNNotificationContent {
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
