import SatchelClient
import UIKit
import UserNotifications
import UserNotificationsUI

/// Shows the picture, turns it as the handler of the category says, and closes when it says so.
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
        // The system's copy, which is opened for as long as it is read.
        guard file.startAccessingSecurityScopedResource() else { return }
        defer { file.stopAccessingSecurityScopedResource() }
        picture.image = (try? Data(contentsOf: file)).flatMap { UIImage(data: $0) }
    }

    override func data(for response: UNNotificationResponse) -> Data? {
        // Who answers: the payload's URL is the same on all devices. A back end that must be sure has it signed.
        Data(#"{"member": "17"}"#.utf8)
    }

    override func show(_ view: SatchelResponses.View) {
        picture.transform = CGAffineTransform(rotationAngle: view.rotation * .pi / 180)
        picture.alpha = view.opacity
        label.text = view.label?.text
        label.textColor = view.label?.color == .red ? .systemRed : .label
    }
}
