import SatchelCore
import Payloads

/// What a preview's script has to know, as JSON in an attribute.
struct PreviewScript {
    /// Compact.
    let json: String

    init(_ preview: NotificationPreview, _ follows: PreviewPage.Following?) {
        let category = preview.category
        json = Self.text([
            ("respond", preview.respond.map { JSONValue($0) }),
            ("follow", follows.map(Self.value)),
            ("actions", Self.value(category?.actions ?? [])),
            ("dismissal", JSONValue(category?.options.contains(.customDismissAction) ?? false)),
            ("overridesTitle", JSONValue(category?.extension?.overridesDefaultTitle ?? false)),
        ])
    }

    /// Of a page that has nothing else.
    static func json(_ follows: PreviewPage.Following) -> String {
        text([("follow", value(follows))])
    }

    private static func value(_ follows: PreviewPage.Following) -> JSONValue {
        JSONValue(members: [("path", JSONValue(follows.path)), ("version", JSONValue(Double(follows.version)))])
    }

    private static func value(_ value: some Encodable) -> JSONValue { JSONValue(encoding: value) }

    private static func text(_ members: [(key: String, value: JSONValue?)]) -> String {
        JSONValue(members: members).laidOut(width: .max)
    }
}
