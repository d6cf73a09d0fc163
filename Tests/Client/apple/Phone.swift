// Has an extension answer a notification, and says what it answered; registers categories, and says which; or responds to a
// notification, and says what came of it.
import AppleFoundation
import SatchelClient
import UIKit
import UserNotifications
import UserNotificationsUI

/// What is told, in order, from whatever thread.
final class Told: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    func say(_ line: String) {
        lock.lock()
        lines.append(line)
        lock.unlock()
    }

    var all: [String] {
        lock.lock()
        defer { lock.unlock() }
        return lines
    }
}

// As an app would write them.

final class NotificationService: SatchelNotificationService {
    let told = Told()

    override var longestWait: TimeInterval { 3600 }

    /// Its secrets are base64 alone; one that is none can't be opened.
    override func decrypt(_ content: UNMutableNotificationContent) async throws {
        guard let secret = content.userInfo["encrypted-content"] as? String else { return }
        told.say("opens")
        content.title = "half"
        guard let text = Data(base64Encoded: secret) else { throw CancellationError() }
        content.title = "opened"
        content.userInfo["satchel"] = try JSONSerialization.jsonObject(with: text)
    }

    override func change(
        _ content: UNMutableNotificationContent, with files: [SatchelNotification.File]
    ) -> UNNotificationContent {
        told.say("changed \(files.map(\.link.identifier)), \(content.attachments.count) attached")
        content.userInfo["changed"] = true
        return content
    }
}

final class NotificationViewController: SatchelNotificationContentViewController {
    private let told: Told
    private let context = NSExtensionContext()

    init(_ told: Told) {
        self.told = told
        super.init(nibName: nil, bundle: nil)
    }

    override var extensionContext: NSExtensionContext? { context }

    override func show(_ view: SatchelResponses.View) {
        told.say("turned by \(view.rotation)")
    }

    override func data(for response: UNNotificationResponse) -> Data? { Data("1".utf8) }
}

final class Delegate: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        SatchelResponses.respond(to: response, completionHandler: completionHandler)
    }
}

@main enum Phone {
    /// Arguments: the payload, and whether the time expires at once, which is `expires`; or `categories`, and an export's
    /// path; or `responses`, and the payload.
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments[1] == "categories" {
            let center = UNUserNotificationCenter.current()
            center.registerSatchelCategories()
            try tell(of: center.categories)
            try SatchelCategories.register(Data(contentsOf: URL(fileURLWithPath: arguments[2])))
            try tell(of: center.categories)
            return
        }
        if arguments[1] == "responses" {
            let told = Told()
            for payload in [arguments[2], "{}"] { try await respond(to: content(payload), told) }
            try write(told)
        }
        let content = try content(arguments[1])
        let service = NotificationService()
        let told = service.told
        // As the system's handler, for any thread.
        service.didReceive(UNNotificationRequest(content: content)) { @Sendable content in
            for attachment in content.attachments {
                let options = attachment.options.keys.map { "\($0)" }.sorted()
                let bytes = (try? String(contentsOf: attachment.url, encoding: .utf8)) ?? "nothing"
                told.say("\(attachment.identifier): \(bytes) with \(options)")
            }
            told.say("handled \(content.userInfo["changed"] ?? false)")
            if let title = (content as? UNMutableNotificationContent)?.title, !title.isEmpty { told.say(title) }
        }
        if arguments.last == "expires" {
            service.serviceExtensionTimeWillExpire()
            told.say("expired")
        }
        for _ in 0..<6000 where !told.all.contains(where: { $0.hasPrefix("handled") }) {
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        service.serviceExtensionTimeWillExpire()
        if arguments.last != "expires" {
            let all = await SatchelNotification.notificationAttachments(from: content.userInfo, within: 3600)
            told.say("and \(all.count)")
        }
        try write(told)
    }

    private static func content(_ payload: String) throws -> UNMutableNotificationContent {
        let content = UNMutableNotificationContent()
        content.userInfo = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any] ?? [:]
        return content
    }

    /// Writes what was told, and ends.
    private static func write(_ told: Told) throws -> Never {
        try FileHandle.standardOutput.write(contentsOf: Data(told.all.map { "\($0)\n" }.joined().utf8))
        // At once: what is fetched in the background would see libraries end beneath it.
        _exit(0)
    }

    /// Responds as a delegate, as an app that listens, and as a content extension.
    @MainActor private static func respond(to content: UNMutableNotificationContent, _ told: Told) async {
        let notification = UNNotification(request: UNNotificationRequest(content: content))
        func response(_ action: String) -> UNNotificationResponse {
            action == "reply"
                ? UNTextInputNotificationResponse(
                    notification: notification, actionIdentifier: action, userText: "On my way")
                : UNNotificationResponse(notification: notification, actionIdentifier: action)
        }

        let delegate = Delegate()
        await withCheckedContinuation { continuation in
            delegate.userNotificationCenter(.current(), didReceive: response(UNNotificationDefaultActionIdentifier)) {
                MainActor.assumeIsolated { told.say("told") }
                continuation.resume()
            }
        }

        for (action, data) in [(UNNotificationDismissActionIdentifier, Data("17".utf8)), ("reply", nil)] {
            do {
                let answer = try await SatchelResponses.respond(to: response(action), data: data)
                told.say(answer.map { "\($0.decidedBy.rawValue) \($0.actions[0].title)" } ?? "nothing")
            } catch {
                told.say((error as? SatchelError)?.code.rawValue ?? "\(error)")
            }
        }

        let controller = NotificationViewController(told)
        controller.didReceive(notification)
        // Nobody waits for the first before the second is chosen.
        let options = AsyncStream<UNNotificationContentExtensionResponseOption>.makeStream()
        for action in ["rotate", "rotate", "reply", "rotate"] {
            controller.didReceive(response(action)) { option in
                let actions = controller.extensionContext?.notificationActions.map(\.facts) ?? []
                told.say("\(option), offers \(actions)")
                options.continuation.yield(option)
            }
        }
        var answers = options.stream.makeAsyncIterator()
        for _ in 0..<4 { _ = await answers.next() }
    }

    /// A line of JSON.
    private static func tell(of categories: Set<UNNotificationCategory>) throws {
        let facts = categories.map(\.facts).sorted { $0[0][0] < $1[0][0] }
        let line = try JSONSerialization.data(withJSONObject: facts, options: .withoutEscapingSlashes)
        try FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))
    }
}
