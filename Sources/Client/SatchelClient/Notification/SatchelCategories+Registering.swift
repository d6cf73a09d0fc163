// tvOS has the framework, but no actions.
#if canImport(UserNotifications) && !os(tvOS)
    public import Foundation
    public import UserNotifications

    extension SatchelCategories {
        /// Registers an app's categories and replaces all earlier ones. Call it at each launch.
        ///
        /// - Parameter json: The export of the service.
        /// - Throws: `DecodingError` if the JSON is not an export. Then nothing is changed.
        public static func register(_ json: Data) throws {
            let categories = try SatchelCategories(json: json)
            UNUserNotificationCenter.current().setNotificationCategories(categories.notificationCategories)
        }

        /// The system's categories, for an app that also registers others.
        public var notificationCategories: Set<UNNotificationCategory> {
            Set(categories.map(\.notificationCategory))
        }
    }

    extension SatchelCategories.Category {
        var notificationCategory: UNNotificationCategory {
            let actions = actions.map(\.notificationAction)
            let options = UNNotificationCategoryOptions(rawValue: optionBits)
            #if os(watchOS)
                return UNNotificationCategory(
                    identifier: id, actions: actions, intentIdentifiers: intents, options: options)
            #else
                return UNNotificationCategory(
                    identifier: id, actions: actions, intentIdentifiers: intents,
                    hiddenPreviewsBodyPlaceholder: hiddenBody, categorySummaryFormat: summaryFormat, options: options)
            #endif
        }
    }

    extension SatchelCategories.Action {
        var notificationAction: UNNotificationAction {
            let options = UNNotificationActionOptions(rawValue: optionBits)
            let icon =
                icon?.system.map { UNNotificationActionIcon(systemImageName: $0) }
                ?? icon?.template.map { UNNotificationActionIcon(templateImageName: $0) }
            guard let textInput else {
                return UNNotificationAction(identifier: id, title: title, options: options, icon: icon)
            }
            return UNTextInputNotificationAction(
                identifier: id, title: title, options: options, icon: icon,
                textInputButtonTitle: textInput.buttonTitle, textInputPlaceholder: textInput.placeholder)
        }
    }
#endif
