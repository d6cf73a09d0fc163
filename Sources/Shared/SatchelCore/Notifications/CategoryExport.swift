/// A form in which apps take the categories that their payloads name.
public enum CategoryExport: String, Hashable, Sendable, CaseIterable {
    /// What an app registers when it runs: everything but who is told of responses.
    case json
    /// Source code that registers them.
    case swift
    /// What a Notification Content extension's Info.plist says of them.
    case plist

    public var mediaType: String {
        switch self {
        case .json: "application/json"
        case .swift: "text/x-swift; charset=utf-8"
        case .plist: "application/x-plist; charset=utf-8"
        }
    }

    /// - Parameter categories: Of one app, each with another id.
    public func text(_ categories: [Category]) throws -> String {
        switch self {
        case .json: try JSON.text(AppCategories(categories: categories.map(AppCategory.init)), pretty: true) + "\n"
        case .swift: Self.swiftSource(categories)
        case .plist: Self.propertyList(categories)
        }
    }
}

/// Categories as apps get them.
public struct AppCategories: Hashable, Sendable, Codable {
    public var categories: [AppCategory]
}

/// A category as apps get it: without ``Category/responses``, whose URLs are nobody else's.
public struct AppCategory: Hashable, Sendable, Codable {
    public var id: String
    public var options: [CategoryOption]
    public var intents: [String]
    @Nullable public var hiddenBody: String?
    @Nullable public var summaryFormat: String?
    @Nullable public var profile: String?
    public var actions: [CategoryAction]
    @Nullable public var `extension`: ContentExtension?

    public init(_ category: Category) {
        id = category.id
        options = category.options
        intents = category.intents
        hiddenBody = category.hiddenBody
        summaryFormat = category.summaryFormat
        profile = category.profile
        actions = category.actions
        `extension` = category.extension
    }
}
