// tvOS has the framework, but neither attachments nor service extensions.
#if canImport(UserNotifications) && !os(tvOS)
    public import Foundation
    public import UserNotifications

    /// A Notification Service Extension that shows what was prepared. The extension's own class is all that an app writes:
    ///
    /// ```swift
    /// final class NotificationService: SatchelNotificationService {}
    /// ```
    open class SatchelNotificationService: UNNotificationServiceExtension {
        private let answer = Locked<SatchelNotification.Answer?>(nil)

        /// Seconds that the attachments may take; the system gives an extension 30.
        open var longestWait: TimeInterval { 25 }

        /// Opens what the sender encrypted for the app alone: see `decrypting` of
        /// ``SatchelNotification/answer(_:decrypting:within:with:changing:)``. Does nothing by itself.
        ///
        /// Called once for each notification, before anything is fetched, on any thread.
        open func decrypt(_ content: UNMutableNotificationContent) async throws {}

        /// Has the last word on what is shown: `content` has its attachments, which were made of `files`.
        ///
        /// Called once for each notification, on any thread, and may be all that the system still waits for.
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
