// UIKit is there on tvOS and watchOS too, content extensions are not.
#if canImport(UIKit) && canImport(UserNotificationsUI) && !os(tvOS) && !os(watchOS)
    public import Foundation
    public import UIKit
    public import UserNotifications
    public import UserNotificationsUI

    /// A Notification Content extension whose responses the service answers. It sends each response, offers the actions of the
    /// answer, and closes the notification if the answer says so. A subclass shows the content:
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
    /// A response without an answer is forwarded to the app.
    open class SatchelNotificationContentViewController: UIViewController,
        @preconcurrency UNNotificationContentExtension
    {
        /// Sessions by the URL for responses, because one view controller may show several notifications of a thread.
        private var sessions: [URL?: UUID] = [:]
        private var last: Task<Void, Never>?

        /// Shows the state of the notification after an answer. Called on the main thread. The default does nothing.
        open func show(_ view: SatchelResponses.View) {}

        /// Returns data for a response (``SatchelResponses/Response/data``). The default is none.
        open func data(for response: UNNotificationResponse) -> Data? { nil }

        /// The default does nothing.
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
