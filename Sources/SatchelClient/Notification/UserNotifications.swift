#if canImport(UserNotifications)
    public import Foundation
    public import UserNotifications

    extension SatchelNotification {
        /// The attachments of a notification, fetched and ready for its content. What could not be fetched in time, or
        /// what the system refuses, is left out: the notification is shown all the same.
        public static func notificationAttachments(
            from userInfo: [AnyHashable: Any], within seconds: TimeInterval = 25
        ) async -> [UNNotificationAttachment] {
            await attachments(from: userInfo, within: seconds).compactMap { try? $0.notificationAttachment() }
        }
    }

    extension SatchelNotification {
        /// All that a Notification Service Extension has to do: hands the request's content to `handler`, with its
        /// attachments, or as it came where there are none.
        public static func answer(
            _ request: UNNotificationRequest, within seconds: TimeInterval = 25,
            with handler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let copy = request.content.mutableCopy() as? UNMutableNotificationContent else {
                handler(request.content)
                return
            }
            // Nobody else has the copy, and the handler is called once, here: the system takes it on any thread.
            nonisolated(unsafe) let content = copy
            nonisolated(unsafe) let deliver = handler
            Task {
                let attachments = await unsafe notificationAttachments(from: content.userInfo, within: seconds)
                if !attachments.isEmpty { unsafe content.attachments = attachments }
                unsafe deliver(content)
            }
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
