// tvOS has the framework, but no responses.
#if canImport(UserNotifications) && !os(tvOS)
    public import Foundation
    public import UserNotifications

    extension SatchelResponses {
        /// Reports a response that an app's delegate receives:
        ///
        /// ```swift
        /// func userNotificationCenter(
        ///     _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        ///     withCompletionHandler handler: @escaping () -> Void
        /// ) {
        ///     SatchelResponses.respond(to: response, completionHandler: handler)
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - session: The id of an opened notification on one device.
        ///   - data: See ``Response/data``.
        ///   - seconds: The time limit for all attempts.
        ///   - handler: Called once, on the main thread, even after a failure. If the payload asks for no responses, it is called immediately.
        public static func respond(
            to response: UNNotificationResponse, in session: UUID = UUID(), data: Data? = nil,
            within seconds: TimeInterval = 10, completionHandler handler: @escaping () -> Void
        ) {
            guard let url = url(for: response) else { return handler() }
            let response = Response(response, in: session, data: data)
            let completion = Completion(handler: handler)
            Task { @MainActor in
                _ = try? await respond(response, at: url, within: seconds)
                completion.handler()
            }
        }

        /// Reports a response and returns the answer.
        ///
        /// - Returns: The answer; `nil` if the payload asks for no responses.
        /// - Throws: As ``respond(_:at:within:configuration:)``.
        @discardableResult
        public static func respond(
            to response: UNNotificationResponse, in session: UUID = UUID(), data: Data? = nil,
            within seconds: TimeInterval = 10
        ) async throws -> Answer? {
            guard let url = url(for: response) else { return nil }
            return try await respond(Response(response, in: session, data: data), at: url, within: seconds)
        }

        private static func url(for response: UNNotificationResponse) -> URL? {
            SatchelNotification(userInfo: response.notification.request.content.userInfo)?.respond
        }

        /// Used once, by the main thread.
        private struct Completion: @unchecked Sendable {
            let handler: () -> Void
        }
    }

    extension SatchelResponses.Response {
        /// What the system gives to an app's delegate and to a content extension.
        public init(_ response: UNNotificationResponse, in session: UUID, data: Data? = nil) {
            self.init(
                session: session, action: response.actionIdentifier,
                text: (response as? UNTextInputNotificationResponse)?.userText, data: data)
        }
    }
#endif
