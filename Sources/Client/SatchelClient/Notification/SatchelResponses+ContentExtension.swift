// Content extensions are there on iOS, macOS and visionOS.
#if canImport(UserNotificationsUI) && !os(tvOS) && !os(watchOS)
    public import Foundation
    public import UserNotifications
    public import UserNotificationsUI

    extension SatchelResponses {
        /// Reports a response for a content extension whose view controller is not a `SatchelNotificationContentViewController`. It
        /// sends the response, offers the actions of the answer, and shows the view. Without an answer, nothing changes and the app
        /// receives the response.
        ///
        /// - Parameters:
        ///   - session: An id that stays the same while the notification is open.
        ///   - data: See ``Response/data``.
        ///   - seconds: The time limit for all attempts. A person is waiting.
        ///   - context: The extension context of the view controller.
        ///   - show: Shows the view. Not called without an answer.
        /// - Returns: The option to return to the system.
        @MainActor public static func respond(
            to response: UNNotificationResponse, in session: UUID, data: Data? = nil,
            within seconds: TimeInterval = 10, of context: NSExtensionContext?, showing show: (View) -> Void
        ) async -> UNNotificationContentExtensionResponseOption {
            guard let answer = try? await respond(to: response, in: session, data: data, within: seconds) else {
                return Option.forward.counterpart
            }
            context?.notificationActions = answer.actions.map(\.notificationAction)
            show(answer.view)
            return answer.then.counterpart
        }
    }

    extension SatchelResponses.Option {
        /// The system's.
        var counterpart: UNNotificationContentExtensionResponseOption {
            switch self {
            case .stay: .doNotDismiss
            case .dismiss: .dismiss
            default: .dismissAndForwardAction
            }
        }
    }
#endif
