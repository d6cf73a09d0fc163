import Payloads

/// What a notification says: `aps.alert`.
struct AlertText: Hashable, Sendable {
    var title: String?
    var subtitle: String?
    var body: String?

    /// What is in the app's bundle stands there by its key.
    init(_ alert: JSONValue?) {
        guard let alert else { return }
        guard alert.text == nil else {
            body = alert.text
            return
        }
        title = Self.text(alert, "title", keyed: "title-loc")
        subtitle = Self.text(alert, "subtitle", keyed: "subtitle-loc")
        body = Self.text(alert, "body", keyed: "loc")
    }

    private static func text(_ alert: JSONValue, _ name: String, keyed prefix: String) -> String? {
        if let text = alert[name]?.text { return text.isEmpty ? nil : text }
        guard let key = alert["\(prefix)-key"]?.text else { return nil }
        let arguments = (alert["\(prefix)-args"]?.elements ?? []).compactMap(\.text)
        return arguments.isEmpty ? key : "\(key) (\(arguments.joined(separator: ", ")))"
    }
}
