// UIKit is there on tvOS and watchOS too, content extensions are not.
#if canImport(UIKit) && canImport(UserNotificationsUI) && !os(tvOS) && !os(watchOS)
    public import Foundation
    public import UIKit
    public import UserNotifications
    public import UserNotificationsUI

    /// A Notification Content extension whose actions the service answers: it sends each response, offers the actions that
    /// the answer names, and closes the notification where the answer says so. What is seen is the subclass's:
    ///
    /// ```swift
    /// final class NotificationViewController: SatchelNotificationContentViewController {
    ///     @IBOutlet private var picture: UIImageView!
    ///
    ///     override func didReceive(_ notification: UNNotification) {
    ///         // Shows the notification's attachments.
    ///     }
    ///
    ///     override func show(_ view: SatchelResponses.View) {
    ///         picture.transform = CGAffineTransform(rotationAngle: view.rotation * .pi / 180)
    ///         picture.alpha = view.opacity
    ///     }
    /// }
    /// ```
    ///
    /// A response that nobody answers goes to the app.
    open class SatchelNotificationContentViewController: UIViewController,
        @preconcurrency UNNotificationContentExtension
    {
        /// By the URL that takes the responses: one view controller may be given several notifications of a thread.
        private var sessions: [URL?: UUID] = [:]
        private var last: Task<Void, Never>?

        /// Shows what has become of the notification. Does nothing by itself; called on the main thread with each answer.
        open func show(_ view: SatchelResponses.View) {}

        /// What goes with a response: ``SatchelResponses/Response/data``. Nothing by itself.
        open func data(for response: UNNotificationResponse) -> Data? { nil }

        /// Does nothing by itself.
        open func didReceive(_ notification: UNNotification) {}

        open func didReceive(
            _ response: UNNotificationResponse,
            completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
        ) {
            // One after the other: each answer builds on what the one before it has left.
            let before = last
            last = Task {
                await before?.value
                let option = await SatchelResponses.respond(
                    to: response, in: session(of: response.notification), data: data(for: response),
                    of: extensionContext, showing: show)
                completion(option)
            }
        }

        private func session(of notification: UNNotification) -> UUID {
            let url = SatchelNotification(userInfo: notification.request.content.userInfo)?.respond
            let session = sessions[url] ?? UUID()
            sessions[url] = session
            return session
        }
    }
#endif
