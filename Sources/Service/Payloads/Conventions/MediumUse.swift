import SatchelCore

/// One place of a payload that names a medium, and what around it goes with it.
struct MediumUse: Hashable, Sendable {
    /// Media that share what describes them.
    struct Group: Hashable, Sendable {
        var path: JSONDocument.Path
        var size: Int
        /// Removed when all media of the group are.
        var companions: [JSONDocument.Path]
    }

    /// Where the URL is: removing the value there removes the medium.
    var path: JSONDocument.Path
    /// The part of `path` that is the URL itself, where it lies deeper than what is removed.
    var urlPath: JSONDocument.Path
    var url: String
    /// The convention's own name for it, else the key it is under.
    var identifier: String
    /// What tells its type.
    var typePlaces: [JSONDocument.Path] = []
    /// The text to show instead of it.
    var alternativePlaces: [JSONDocument.Path] = []
    /// Removed with it.
    var companions: [JSONDocument.Path] = []
    var group: Group?
    var options = DisplayOptions()
    var display = PlaceDisplay.anything

    init(path: JSONDocument.Path, urlPath: JSONDocument.Path? = nil, url: String, identifier: String) {
        self.path = path
        self.urlPath = urlPath ?? path
        self.url = url
        self.identifier = identifier
    }

    /// The URL that a value is; nil for what is no http or https URL, and none that stands for a part of what it comes with
    /// (`cid:`, RFC 2392), which is decoded.
    static func url(_ value: JSONValue) -> String? {
        guard let text = value.text else { return nil }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        switch scheme {
        case "http", "https": return rest.hasPrefix("://") && rest.count > 3 ? text : nil
        case "cid": return rest.hasPrefix(":") ? PercentCoding.decode(rest.dropFirst()).map(contentID) : nil
        default: return nil
        }
    }

    /// What stands for the medium of that identifier, which comes with the payload.
    static func contentID(_ identifier: String) -> String {
        contentScheme + identifier
    }

    static let contentScheme = "cid:"

    /// Every string of a document that stands for a medium which comes with it.
    static func contentIDs(in document: JSONDocument) -> [MediumUse] {
        document.paths(where: { $0.text?.lowercased().hasPrefix(contentScheme) ?? false }).compactMap { path in
            url(document[path]).map { MediumUse(path: path, url: $0, identifier: "") }
        }
    }
}
