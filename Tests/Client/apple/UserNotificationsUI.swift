// What the client uses of UserNotificationsUI. As in Apple's header, one method alone is the main actor's.
public import AppleFoundation
public import UserNotifications

public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    case doNotDismiss
    case dismiss
    case dismissAndForwardAction
}

public protocol UNNotificationContentExtension: NSObjectProtocol {
    @MainActor func didReceive(_ notification: UNNotification)

    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    )
}

extension NSExtensionContext {
    public var notificationActions: [UNNotificationAction] {
        get { kept.compactMap { $0 as? UNNotificationAction } }
        set { kept = newValue }
    }
}
