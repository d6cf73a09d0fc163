import SatchelClient
import UIKit
import UserNotifications
import UserNotificationsUI

/// Shows the picture. The category's handler decides how it is rotated and when the notification closes.
final class NotificationViewController: SatchelNotificationContentViewController {
    private let picture = UIImageView()
    private let label = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        picture.contentMode = .scaleAspectFit
        label.textAlignment = .center
        for part in [picture, label] {
            part.frame = view.bounds
            part.autoresizingMask = [.flexibleWidth, .flexibleHeight]
            view.addSubview(part)
        }
    }

    override func didReceive(_ notification: UNNotification) {
        guard let file = notification.request.content.attachments.first?.url else { return }
        // The file is the system's copy. It is accessible only between start and stop.
        guard file.startAccessingSecurityScopedResource() else { return }
        defer { file.stopAccessingSecurityScopedResource() }
        picture.image = (try? Data(contentsOf: file)).flatMap { UIImage(data: $0) }
    }

    override func data(for response: UNNotificationResponse) -> Data? {
        // Identifies the member, because the payload's URL is the same on all devices. Sign this data if it must be trusted.
        Data(#"{"member": "17"}"#.utf8)
    }

    override func show(_ view: SatchelResponses.View) {
        picture.transform = CGAffineTransform(rotationAngle: view.rotation * .pi / 180)
        picture.alpha = view.opacity
        label.text = view.label?.text
        label.textColor = view.label?.color == .red ? .systemRed : .label
    }
}
