import SatchelClient
import UserNotifications

/// Fetches what the payload links to, and attaches it.
final class NotificationService: SatchelNotificationService {
    override func change(
        _ content: UNMutableNotificationContent, with files: [SatchelNotification.File]
    ) -> UNNotificationContent {
        if files.contains(where: \.isPreview) { content.subtitle = "Open to see all of it" }
        return content
    }
}
