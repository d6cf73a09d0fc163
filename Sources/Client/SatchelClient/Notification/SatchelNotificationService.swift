// tvOS has the framework, but neither attachments nor service extensions.
#if canImport(UserNotifications) && !os(tvOS)
    public import Foundation
    public import UserNotifications

    /// A Notification Service Extension that shows the prepared attachments. The app only needs a subclass:
    ///
    /// ```swift
    /// final class NotificationService: SatchelNotificationService {}
    /// ```
    open class SatchelNotificationService: UNNotificationServiceExtension {
        private let answer = Locked<SatchelNotification.Answer?>(nil)

        /// The time limit for fetching attachments, in seconds. The system gives an extension 30 seconds.
        open var longestWait: TimeInterval { 25 }

        /// Decrypts what the sender encrypted for the app only. See `decrypting` of
        /// ``SatchelNotification/answer(_:decrypting:within:with:changing:)``. The default does nothing.
        ///
        /// Called once for each notification, before anything is fetched, on any thread.
        open func decrypt(_ content: UNMutableNotificationContent) async throws {}

        /// Makes the last changes to `content`, which has its attachments. They were made from `files`.
        ///
        /// Called once for each notification, on any thread. Keep it short, because the system is waiting.
        open func change(
            _ content: UNMutableNotificationContent, with files: [SatchelNotification.File]
        ) -> UNNotificationContent {
            content
        }

        open override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            let hook = Hook(service: self)
            let answer = SatchelNotification.answer(
                request, decrypting: { try await hook.service.decrypt($0) }, within: longestWait, with: contentHandler
            ) {
                hook.service.change($0, with: $1)
            }
            self.answer.withLock { $0 = answer }
        }

        open override func serviceExtensionTimeWillExpire() {
            answer.withLock(\.self)?.expire()
        }

        /// The system gives each notification a service of its own, which does nothing else meanwhile.
        private struct Hook: @unchecked Sendable {
            let service: SatchelNotificationService
        }
    }
#endif
