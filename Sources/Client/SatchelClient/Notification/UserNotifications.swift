// tvOS has the framework, but neither attachments nor service extensions.
#if canImport(UserNotifications) && !os(tvOS)
    import CoreGraphics
    public import Foundation
    public import UserNotifications

    extension SatchelNotification {
        /// Fetches the attachments of a notification, ready for its content. An attachment that is not fetched in time, or that the
        /// system rejects, is replaced by its preview or omitted.
        public static func notificationAttachments(
            from userInfo: [AnyHashable: Any], within seconds: TimeInterval = 25
        ) async -> [UNNotificationAttachment] {
            let fetch = NotificationFetch(SatchelNotification(userInfo: userInfo), show: Shown.init)
            await fetch.run(within: seconds)
            return fetch.finish().map(\.attachment)
        }

        /// Calls `handler` with the content of a request and its attachments, or with the unchanged content if there are none. This is
        /// all that a Notification Service Extension has to do.
        ///
        /// - Parameters:
        ///   - decrypt: Decrypts what the sender encrypted for the app only, such as the payload's `encrypted-content`. It changes
        ///     the texts of the content, and the key `satchel` in `userInfo` if the links were encrypted as well. Links are fetched
        ///     afterwards. If it throws or takes too long, the notification is shown unchanged.
        ///   - seconds: The time limit. An extension has 30 seconds; see ``Answer/expire()`` if the system ends it earlier.
        ///   - handler: Called once, on any thread.
        ///   - change: Makes the last changes to the content. It receives the content with its attachments, and the files that they
        ///     were made from. It is called once, on the same thread as `handler`. Keep it short, because the system is waiting.
        @discardableResult
        public static func answer(
            _ request: UNNotificationRequest,
            decrypting decrypt: @escaping @Sendable (UNMutableNotificationContent) async throws -> Void = { _ in },
            within seconds: TimeInterval = 25,
            with handler: @escaping (UNNotificationContent) -> Void,
            changing change: @escaping @Sendable (UNMutableNotificationContent, [File]) -> UNNotificationContent = {
                content, _ in content
            }
        ) -> Answer {
            guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else {
                handler(request.content)
                return Answer()
            }
            let reply = Reply(change: change, handler: handler)
            return Answer(
                Content(content: content), opening: { try await $0.opened(by: decrypt) },
                fetching: {
                    NotificationFetch(SatchelNotification(userInfo: $0.content.userInfo), show: Shown.init)
                }, within: seconds
            ) { content, shown in
                if !shown.isEmpty { content.content.attachments = shown.map(\.attachment) }
                reply.handler(reply.change(content.content, shown.map(\.file)))
            }
        }

        /// A copy that nobody else has. Whoever opens it gets a copy of its own: this one is shown meanwhile, if it has to be.
        private struct Content: @unchecked Sendable {
            let content: UNMutableNotificationContent

            func opened(
                by decrypt: @Sendable (UNMutableNotificationContent) async throws -> Void
            ) async throws -> Content {
                guard let copy = content.mutableCopy() as? UNMutableNotificationContent else { return self }
                try await decrypt(copy)
                return Content(content: copy)
            }
        }

        /// A file that the system accepted.
        private struct Shown: @unchecked Sendable {
            let file: File
            // Never changed.
            let attachment: UNNotificationAttachment

            init(_ file: File) throws {
                self.file = file
                attachment = try file.notificationAttachment()
            }
        }

        /// What is called with an answer: once, by the one thread that answers.
        private struct Reply: @unchecked Sendable {
            let change: @Sendable (UNMutableNotificationContent, [File]) -> UNNotificationContent
            let handler: (UNNotificationContent) -> Void
        }
    }

    extension SatchelNotification.File {
        /// Returns the system's attachment with its options. The system moves the file.
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
