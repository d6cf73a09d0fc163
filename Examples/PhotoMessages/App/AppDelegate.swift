import SatchelClient
import UIKit
import UserNotifications

@MainActor final class AppDelegate: NSObject, UIApplicationDelegate {
    let backEnd = BackEnd(address: "https://api.example.com")
    private(set) lazy var uploads = Uploads(backEnd)

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        // Set the delegate first: the app may have been started by a response to a notification.
        UNUserNotificationCenter.current().delegate = self
        registerCategories()
        application.registerForRemoteNotifications()
        Task {
            _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound])
        }
        uploads.resume()
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        // The back end keeps device tokens and sends the payloads. Satchel stores no tokens.
        Task { try? await backEnd.register(device: deviceToken) }
    }

    /// Registers the categories exported by `satchel category list --as json`.
    private func registerCategories() {
        guard let file = Bundle.main.url(forResource: "categories", withExtension: "json") else { return }
        do {
            try SatchelCategories.register(Data(contentsOf: file))
        } catch {
            assertionFailure("categories.json is not an export of categories: \(error)")
        }
    }
}

extension AppDelegate: UNUserNotificationCenterDelegate {
    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.banner, .list, .sound])
    }

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        // The content extension has already reported responses to its own categories.
        let isOfExtension = Self.extensionCategories.contains(response.notification.request.content.categoryIdentifier)
        let isOfApp = [UNNotificationDefaultActionIdentifier, UNNotificationDismissActionIdentifier]
            .contains(response.actionIdentifier)
        guard isOfApp || !isOfExtension else { return completionHandler() }
        SatchelResponses.respond(to: response, completionHandler: completionHandler)
    }

    /// The categories in the content extension's Info.plist.
    private nonisolated static let extensionCategories: Set = ["event-invite", "green-category", "red-category"]
}
