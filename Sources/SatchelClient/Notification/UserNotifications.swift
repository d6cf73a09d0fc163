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
