// Has an extension answer a notification, and says what it answered; or registers categories, and says which.
import AppleFoundation
import SatchelClient
import UserNotifications

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

/// As an app would write it.
final class NotificationService: UNNotificationServiceExtension {
    let told = Told()
    private var answer: SatchelNotification.Answer?

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler handler: @escaping (UNNotificationContent) -> Void
    ) {
        let told = told
        answer = SatchelNotification.answer(request, within: 3600, with: handler) { content, files in
            told.say("changed \(files.map(\.link.identifier)), \(content.attachments.count) attached")
            content.userInfo["changed"] = true
            return content
        }
    }

    override func serviceExtensionTimeWillExpire() {
        answer?.expire()
    }
}

@main enum Phone {
    /// Arguments: the payload, and whether the time expires at once, which is `expires`; or `categories`, and an export's path.
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
        let content = UNMutableNotificationContent()
        content.userInfo = try JSONSerialization.jsonObject(with: Data(arguments[1].utf8)) as? [String: Any] ?? [:]
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
        try FileHandle.standardOutput.write(contentsOf: Data(told.all.map { "\($0)\n" }.joined().utf8))
        // At once: what is fetched in the background would see libraries end beneath it.
        _exit(0)
    }

    /// A line of JSON.
    private static func tell(of categories: Set<UNNotificationCategory>) throws {
        let facts = categories.map(\.facts).sorted { $0[0][0] < $1[0][0] }
        let line = try JSONSerialization.data(withJSONObject: facts, options: .withoutEscapingSlashes)
        try FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))
    }
}
