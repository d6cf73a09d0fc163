extension CategoryExport {
    /// What an extension is told once, for all categories that it shows.
    private struct ExtensionSettings: Hashable {
        var ratio: Double
        var hidesDefaultContent: Bool
        var overridesTitle: Bool
        var takesInteraction: Bool

        init(_ settings: ContentExtension) {
            ratio = settings.initialContentSizeRatio
            hidesDefaultContent = settings.defaultContentHidden ?? false
            overridesTitle = settings.overridesDefaultTitle ?? false
            takesInteraction = settings.userInteraction ?? false
        }
    }

    /// The key `NSExtension`, as an extension's Info.plist has it, but for the class or storyboard, which is the extension's
    /// own. An extension has one set of settings: where categories differ in theirs, the root is an array with a
    /// dictionary for each set, in the order of the first category of each.
    static func propertyList(_ categories: [Category]) -> String {
        var sets: [(settings: ExtensionSettings, ids: [String])] = []
        for category in categories {
            guard let settings = category.extension.map(ExtensionSettings.init) else { continue }
            if let index = sets.firstIndex(where: { $0.settings == settings }) {
                sets[index].ids.append(category.id)
            } else {
                sets.append((settings, [category.id]))
            }
        }
        let comment =
            switch sets.count {
            case 0: "No category has a content extension."
            case 1: "For the Info.plist of the Notification Content extension."
            default:
                "An extension has one set of settings, but these categories have \(sets.count). Make one extension for each, with the matching entry in its Info.plist."
            }
        let elements = sets.map { element($0.settings, $0.ids) }
        let root =
            switch elements.count {
            case 0: "<dict/>"
            case 1: elements[0]
            default: "<array>\n\(elements.joined(separator: "\n"))\n</array>"
            }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <!-- \(comment) -->
            \(root)
            </plist>

            """
    }

    private static func element(_ settings: ExtensionSettings, _ ids: [String]) -> String {
        """
        <dict>
            <key>NSExtension</key>
            <dict>
                <key>NSExtensionAttributes</key>
                <dict>
                    <key>UNNotificationExtensionCategory</key>
                    <array>
        \(ids.map { "                <string>\($0.escapedForXML)</string>" }.joined(separator: "\n"))
                    </array>
                    <key>UNNotificationExtensionInitialContentSizeRatio</key>
                    <real>\(settings.ratio)</real>
                    <key>UNNotificationExtensionDefaultContentHidden</key>
                    <\(settings.hidesDefaultContent)/>
                    <key>UNNotificationExtensionOverridesDefaultTitle</key>
                    <\(settings.overridesTitle)/>
                    <key>UNNotificationExtensionUserInteractionEnabled</key>
                    <\(settings.takesInteraction)/>
                </dict>
                <key>NSExtensionPointIdentifier</key>
                <string>com.apple.usernotifications.content-extension</string>
            </dict>
        </dict>
        """
    }
}

extension String {
    /// Between tags.
    fileprivate var escapedForXML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
