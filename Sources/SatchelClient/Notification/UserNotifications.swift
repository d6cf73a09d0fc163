// tvOS has the framework, but neither attachments nor service extensions.
#if canImport(UserNotifications) && !os(tvOS)
    import CoreGraphics
    public import Foundation
    public import UserNotifications

    extension SatchelNotification {
        /// The attachments of a notification, fetched and ready for its content. What could not be fetched in time, or
        /// what the system refuses, stands as its preview or is left out: the notification is shown all the same.
        public static func notificationAttachments(
            from userInfo: [AnyHashable: Any], within seconds: TimeInterval = 25
        ) async -> [UNNotificationAttachment] {
            let fetch = NotificationFetch(SatchelNotification(userInfo: userInfo), show: Shown.init)
            await fetch.run(within: seconds)
            return fetch.finish().map(\.attachment)
        }

        /// All that a Notification Service Extension has to do: hands the request's content to `handler`, with its
        /// attachments, or as it came where there are none.
        ///
        /// - Parameters:
        ///   - seconds: An extension has 30; see ``Answer/expire()`` for where the system ends them earlier.
        ///   - handler: Called once, on any thread.
        ///   - change: Has the last word on what `handler` is called with. It gets the content with its attachments, and
        ///     which files they were made of; it is called once, on the thread that `handler` is called on, and may be all
        ///     that the system still waits for.
        @discardableResult
        public static func answer(
            _ request: UNNotificationRequest, within seconds: TimeInterval = 25,
            with handler: @escaping (UNNotificationContent) -> Void,
            changing change: @escaping @Sendable (UNMutableNotificationContent, [File]) -> UNNotificationContent = {
                content, _ in content
            }
        ) -> Answer {
            guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else {
                handler(request.content)
                return Answer()
            }
            let fetch = NotificationFetch(SatchelNotification(userInfo: content.userInfo), show: Shown.init)
            let reply = Reply(content: content, change: change, handler: handler)
            return Answer(fetch, within: seconds) { shown in
                if !shown.isEmpty { reply.content.attachments = shown.map(\.attachment) }
                reply.handler(reply.change(reply.content, shown.map(\.file)))
            }
        }

        /// A file that the system took.
        private struct Shown: @unchecked Sendable {
            let file: File
            // Never changed.
            let attachment: UNNotificationAttachment

            init(_ file: File) throws {
                self.file = file
                attachment = try file.notificationAttachment()
            }
        }

        /// What an answer is made of. Nobody else has the copy, and all of it is used once, by the one thread that answers.
        private struct Reply: @unchecked Sendable {
            let content: UNMutableNotificationContent
            let change: @Sendable (UNMutableNotificationContent, [File]) -> UNNotificationContent
            let handler: (UNNotificationContent) -> Void
        }
    }

    extension SatchelNotification.File {
        /// The system's counterpart, with its options. The system moves the file away.
        public func notificationAttachment() throws -> UNNotificationAttachment {
            var options: [AnyHashable: Any] = [:]
            if !isPreview {
                // A preview has a type of its own, and its rectangle is the whole.
                if let hint = link.options?.typeHint { options[UNNotificationAttachmentOptionsTypeHintKey] = hint }
                if let rect = link.options?.thumbnailClippingRect {
                    options[UNNotificationAttachmentOptionsThumbnailClippingRectKey] =
                        CGRect(x: rect.x, y: rect.y, width: rect.width, height: rect.height).dictionaryRepresentation
                }
                if let time = link.options?.thumbnailTime {
                    options[UNNotificationAttachmentOptionsThumbnailTimeKey] = time
                }
            }
            if let hidden = link.options?.thumbnailHidden {
                options[UNNotificationAttachmentOptionsThumbnailHiddenKey] = hidden
            }
            return try UNNotificationAttachment(identifier: link.identifier, url: file, options: options)
        }
    }
#endif
