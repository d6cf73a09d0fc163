import SwiftUI

@main struct PhotoMessagesApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate

    var body: some Scene {
        WindowGroup {
            UploadsView(uploads: delegate.uploads)
        }
    }
}
