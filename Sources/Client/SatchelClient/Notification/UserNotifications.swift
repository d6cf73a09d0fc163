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
        ///   - decrypt: Opens what the sender encrypted for the app alone, such as `encrypted-content` of the payload, which
        ///     Satchel passes through untouched. It changes the content that it gets: its texts, and in `userInfo` the key
        ///     `satchel`, where links and their keys were encrypted with the rest. Only then links are fetched, and what they
        ///     open decrypted. Where it throws, or isn't ready in time, the notification is shown as it came.
        ///   - seconds: An extension has 30; see ``Answer/expire()`` for where the system ends them earlier.
        ///   - handler: Called once, on any thread.
        ///   - change: Has the last word on what `handler` is called with. It gets the content with its attachments, and
        ///     which files they were made of; it is called once, on the thread that `handler` is called on, and may be all
        ///     that the system still waits for.
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

        /// What is called with an answer: once, by the one thread that answers.
        private struct Reply: @unchecked Sendable {
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
