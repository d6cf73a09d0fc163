// Content extensions are there on iOS, macOS and visionOS.
#if canImport(UserNotificationsUI) && !os(tvOS) && !os(watchOS)
    public import Foundation
    public import UserNotifications
    public import UserNotificationsUI

    extension SatchelResponses {
        /// All that a content extension does with a response, where its view controller is no
        /// `SatchelNotificationContentViewController`: sends it, offers the actions that the answer names, and has its view
        /// shown. Where nobody answers, or the payload asks for no responses, nothing changes and the app gets the response.
        ///
        /// - Parameters:
        ///   - session: The same for as long as the notification is open.
        ///   - data: See ``Response/data``.
        ///   - seconds: For all attempts; a person is waiting.
        ///   - context: The view controller's.
        ///   - show: Shows the view; not called where nobody answered.
        /// - Returns: What the system is to be told.
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
