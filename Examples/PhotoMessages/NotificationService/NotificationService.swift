import SatchelClient
import UserNotifications

/// Fetches the files that the payload links to and attaches them.
final class NotificationService: SatchelNotificationService {
    override func change(
        _ content: UNMutableNotificationContent, with files: [SatchelNotification.File]
    ) -> UNNotificationContent {
        if files.contains(where: \.isPreview) { content.subtitle = "Open to see all of it" }
        return content
    }
}
