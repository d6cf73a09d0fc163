extension CategoryExport {
    /// Swift that registers the categories. It uses the oldest initialisers that say what there is to say, so that it asks for no
    /// newer system than a category needs; each is a statement of its own, for the compiler takes long over large expressions.
    static func swiftSource(_ categories: [Category]) -> String {
        """
        \(opening)

        extension UNUserNotificationCenter {
            /// Registers the app's categories, in the place of those that were registered before. Call it at each launch.
            func registerSatchelCategories() {
        \(indented(body(categories), by: 2))
            }
        }

        """
    }

    private static let opening =
        "// Notification categories, made by Satchel from their descriptions. Make it anew where those change.\n\n"
        + "import UserNotifications"

    private static func body(_ categories: [Category]) -> String {
        guard !categories.isEmpty else { return "setNotificationCategories([])" }
        return
            (["var categories: Set<UNNotificationCategory> = []"]
            + categories.map { "categories.insert(\n\(indented(source($0), by: 1)))" }
            + ["setNotificationCategories(categories)"]).joined(separator: "\n")
    }

    private static func source(_ category: Category) -> String {
        var arguments = [
            ("identifier", category.id.swiftLiteral), ("actions", list(category.actions.map(source))),
            ("intentIdentifiers", "[\(category.intents.map(\.swiftLiteral).joined(separator: ", "))]"),
        ]
        if category.hiddenBody != nil || category.summaryFormat != nil {
            arguments.append(("hiddenPreviewsBodyPlaceholder", category.hiddenBody?.swiftLiteral ?? "nil"))
        }
        if let format = category.summaryFormat { arguments.append(("categorySummaryFormat", format.swiftLiteral)) }
        arguments.append(("options", set(category.options.map(\.swiftName))))
        return call("UNNotificationCategory", arguments)
    }

    private static func source(_ action: CategoryAction) -> String {
        var arguments = [
            ("identifier", action.id.swiftLiteral), ("title", action.title.swiftLiteral),
            ("options", set(action.options.map(\.swiftName))),
        ]
        switch action.icon {
        case nil: break
        case .system(let name)?:
            arguments.append(("icon", "UNNotificationActionIcon(systemImageName: \(name.swiftLiteral))"))
        case .template(let name)?:
            arguments.append(("icon", "UNNotificationActionIcon(templateImageName: \(name.swiftLiteral))"))
        }
        guard let input = action.textInput else { return call("UNNotificationAction", arguments) }
        arguments += [
            ("textInputButtonTitle", input.buttonTitle.swiftLiteral),
            ("textInputPlaceholder", input.placeholder.swiftLiteral),
        ]
        return call("UNTextInputNotificationAction", arguments)
    }

    // MARK: Layout

    private static func call(_ name: String, _ arguments: [(label: String, value: String)]) -> String {
        let lines = arguments.map { indented("\($0.label): \($0.value)", by: 1) }
        return "\(name)(\n\(lines.joined(separator: ",\n")))"
    }

    private static func list(_ elements: [String]) -> String {
        elements.isEmpty ? "[]" : "[\n\(elements.map { indented($0, by: 1) }.joined(separator: ",\n")),\n]"
    }

    private static func set(_ names: [String]) -> String {
        "[\(names.map { ".\($0)" }.joined(separator: ", "))]"
    }

    /// No literal has a line break in it.
    private static func indented(_ text: String, by levels: Int) -> String {
        let margin = String(repeating: "    ", count: levels)
        return text.split(separator: "\n").map { margin + $0 }.joined(separator: "\n")
    }
}

extension String {
    /// As a literal of Swift on one line, from which nothing gets out: quotation marks, backslashes (and with them
    /// interpolations) are escaped, and so is what an editor would not show.
    fileprivate var swiftLiteral: String {
        let escaped = unicodeScalars.map { $0.escaped(asASCII: $0.isInvisible) }
        return "\"\(escaped.joined())\""
    }
}

extension CategoryOption {
    /// Of UNNotificationCategoryOptions.
    fileprivate var swiftName: String {
        switch self {
        case .customDismissAction: "customDismissAction"
        case .hiddenPreviewsShowTitle: "hiddenPreviewsShowTitle"
        case .hiddenPreviewsShowSubtitle: "hiddenPreviewsShowSubtitle"
        case .allowInCarPlay: "allowInCarPlay"
        case .allowAnnouncement: "allowAnnouncement"
        }
    }
}

extension ActionOption {
    /// Of UNNotificationActionOptions.
    fileprivate var swiftName: String {
        switch self {
        case .foreground: "foreground"
        case .destructive: "destructive"
        case .authenticationRequired: "authenticationRequired"
        }
    }
}
