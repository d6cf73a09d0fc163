import Attachments

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

    init(path: JSONDocument.Path, urlPath: JSONDocument.Path? = nil, url: String, identifier: String) {
        self.path = path
        self.urlPath = urlPath ?? path
        self.url = url
        self.identifier = identifier
    }

    /// The URL that a value is; nil for what is no http or https URL.
    static func url(_ value: JSONValue) -> String? {
        guard let text = value.text else { return nil }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text.dropFirst(scheme.count)
        return rest.hasPrefix("://") && rest.count > 3 ? text : nil
    }
}
