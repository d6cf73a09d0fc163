import SatchelCore
import Payloads

/// A preview as a page: everything that is text is there without scripts, which add what can be done.
struct PreviewPage: Sendable {
    /// Nil where there is nothing that could be shown.
    var preview: NotificationPreview?
    /// What keeps the newest state from being shown: a sentence each.
    var problems: [String] = []
    var appearance = PreviewAppearance()
    /// Where the page asks whether there is something newer, and which version it is itself; nil where nothing changes.
    var follows: Following?

    struct Following: Hashable, Sendable {
        var path: String
        var version: Int
    }

    func html(_ policy: PagePolicy) -> HTMLText {
        """
        <!doctype html>
        <html lang="en" data-theme="\(appearance.theme.rawValue)" data-text="\(appearance.textSize.rawValue)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title)</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="\(Asset.previewStyle.path)">
        <style nonce="\(policy.nonce)">\(style)</style>
        <script type="module" src="\(Asset.previewScript.path)"></script>
        </head>
        <body>
        <header class="page">
        <h1>Notification preview</h1>
        <p class="faint">An approximation: devices differ in sizes, colors and where they shorten texts.</p>
        </header>
        <main\(preview.map { HTMLText(" data-preview=\"\(PreviewScript($0, follows).json)\"") } ?? followingAlone)>
        \(alert)
        \(appearanceForm)
        \(preview.map(sections) ?? Self.status)
        </main>
        </body>
        </html>

        """
    }

    /// Where the script says what happens.
    static let status: HTMLText = "<p id=\"status\" class=\"status\" role=\"status\"></p>"

    private var title: String {
        let alert = preview?.alert
        guard let text = alert?.title ?? alert?.body else { return "Notification preview" }
        return "\(String(text.prefix(60)).showingInvisible()): notification preview"
    }

    /// What differs from page to page; everything else is in the stylesheet.
    private var style: HTMLText {
        let ratio = preview?.category?.extension?.initialContentSizeRatio ?? 1
        return ":root { --phone: \(appearance.width)px; --ratio: \(ratio) }"
    }

    private var followingAlone: HTMLText {
        guard let follows else { return "" }
        return " data-preview=\"\(PreviewScript.json(follows))\""
    }

    private var alert: HTMLText {
        guard !problems.isEmpty else { return "" }
        let items = problems.map { problem -> HTMLText in "<li>\(shown(problem))</li>\n" }
        return """
            <section class="problems" role="alert" aria-labelledby="problems-heading">
            <h2 id="problems-heading">\(preview == nil ? "Cannot show this notification" : "Showing the last good version")</h2>
            <ul>
            \(items)</ul>
            </section>
            """
    }

    private func sections(_ preview: NotificationPreview) -> HTMLText {
        """
        \(PreviewPhones(preview: preview, direction: appearance.direction).html)
        \(PreviewFacts(preview: preview).html)
        """
    }

    // MARK: How it is looked at

    private var appearanceForm: HTMLText {
        """
        <form class="appearance" method="get">
        \(choice("theme", "Theme", [("auto", "Match browser"), ("light", "Light"), ("dark", "Dark")], appearance.theme.rawValue))
        <label>Width <input type="number" name="width" min="\(PreviewAppearance.widths.lowerBound)" \
        max="\(PreviewAppearance.widths.upperBound)" value="\(appearance.width)"> points</label>
        \(choice("text", "Text size", [("normal", "Default"), ("large", "Larger"), ("largest", "Largest")], appearance.textSize.rawValue))
        \(choice("direction", "Direction", [("ltr", "Left to right"), ("rtl", "Right to left")], appearance.direction.rawValue))
        <noscript><button>Show</button></noscript>
        </form>
        """
    }

    private func choice(
        _ name: String, _ label: String, _ values: [(value: String, text: String)], _ chosen: String
    ) -> HTMLText {
        let options = values.map { value, text -> HTMLText in
            "<option value=\"\(value)\"\(value == chosen ? HTMLText(" selected") : "")>\(text)</option>"
        }
        return "<label>\(label) <select name=\"\(name)\">\(options)</select></label>"
    }

    private func shown(_ text: String) -> HTMLText { "\(text.showingInvisible())" }
}

/// The input of a preview's script, as JSON in an attribute.
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
