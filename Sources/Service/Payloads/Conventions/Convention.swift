import SatchelCore

/// Where a push provider, or an application, puts media into its payloads.
struct Convention: Hashable, Sendable {
    /// What is at the convention's place.
    enum Shape: Hashable, Sendable {
        /// A URL, or an array of URLs.
        case url
        /// An object whose keys are the media's identifiers and whose values are URLs.
        case urlsByIdentifier
        /// Airship's object: see ``AirshipMedia``.
        case airship
    }

    /// The key beside the URL that tells its type.
    enum TypeKey: Hashable, Sendable {
        case none
        /// The provider's own.
        case named(String)
        /// Any of those that applications use.
        case common

        private static let names = [
            "content-type", "contentType", "content_type", "type", "mimeType", "mime_type", "mime-type", "format",
            "uti",
        ]

        func places(in container: JSONDocument.Path, of document: JSONDocument) -> [JSONDocument.Path] {
            switch self {
            case .none: []
            case .named(let key): document.places(of: key, in: container)
            // An application's `type` may also be that of the notification.
            case .common:
                Self.names.flatMap { document.places(of: $0, in: container) }
                    .filter { document[$0].text.map(TypeWord.isOne) ?? false }
            }
        }
    }

    var place: JSONPointer
    var shape: Shape
    var typeKey = TypeKey.none
    /// The key beside the URL that holds the text to show when the media can't be.
    var alternativeKey: String?
    var display = PlaceDisplay.anything

    init(
        _ tokens: String..., shape: Shape = .url, typeKey: TypeKey = .none, alternativeKey: String? = nil,
        display: PlaceDisplay = .anything
    ) {
        place = JSONPointer(tokens: tokens)
        self.display = display
        self.shape = shape
        self.typeKey = typeKey
        self.alternativeKey = alternativeKey
    }

    /// A place that an operator has configured.
    init(place: JSONPointer) {
        self.place = place
        shape = .url
        typeKey = .common
    }
}

extension Convention {
    /// Conventions for payloads as APNs delivers them, which are public; REFERENCE has the same table.
    static let known: [Convention] = [
        // No provider's own: Apple's examples use it.
        Convention("my-attachment"),
        // Firebase Cloud Messaging
        Convention("fcm_options", "image"),
        // OneSignal, before and after it was renamed
        Convention("os_data", "att", shape: .urlsByIdentifier),
        Convention("att", shape: .urlsByIdentifier),
        // Airship
        Convention("com.urbanairship.media_attachment", shape: .airship),
        // Braze
        Convention("ab", "att", "url", typeKey: .named("type")),
        // CleverTap
        Convention("ct_mediaUrl", typeKey: .named("ct_mediaType")),
        // Expo
        Convention("body", "_richContent", "image"),
        Convention("_richContent", "image"),
        // Iterable
        Convention("itbl", "attachment-url"),
        // Amazon Pinpoint
        Convention("data", "media-url"),
        // Pusher Beams
        Convention("data", "attachment-url"),
        // Salesforce Marketing Cloud
        Convention("_mediaUrl", alternativeKey: "_mediaAlt"),
        // Adobe
        Convention("adb_media"),
        // Mindbox
        Convention("imageUrl"),
        // Emarsys
        Convention("notification", "imageUrl"),
    ]

    /// Every place of a payload where this convention has a medium, in the order of the document.
    func uses(in document: JSONDocument) -> [MediumUse] {
        document.paths(to: place).flatMap { path in
            switch shape {
            case .url: urls(at: path, in: document)
            case .urlsByIdentifier: urlsByIdentifier(at: path, in: document)
            case .airship: AirshipMedia(at: path, in: document).uses
            }
        }.map { use in
            var use = use
            use.display = display
            return use
        }
    }

    private func urls(at path: JSONDocument.Path, in document: JSONDocument) -> [MediumUse] {
        guard let name = place.tokens.last else { return [] }
        let container = Array(path.dropLast())
        func use(_ path: JSONDocument.Path, _ value: JSONValue) -> MediumUse? {
            guard let url = MediumUse.url(value) else { return nil }
            var use = MediumUse(path: path, url: url, identifier: name)
            use.typePlaces = typeKey.places(in: container, of: document)
            use.companions = use.typePlaces
            use.alternativePlaces = alternativeKey.map { document.places(of: $0, in: container) } ?? []
            return use
        }
        if case .array(let array) = document[path] {
            return array.elements.enumerated().compactMap { use(path + [$0], $1.value) }
        }
        return [use(path, document[path])].compactMap(\.self)
    }

    private func urlsByIdentifier(at path: JSONDocument.Path, in document: JSONDocument) -> [MediumUse] {
        guard case .object(let object) = document[path] else { return [] }
        return object.members.enumerated().compactMap { index, member in
            guard let url = MediumUse.url(member.value), let identifier = JSONString.decode(member.key) else {
                return nil
            }
            return MediumUse(path: path + [index], url: url, identifier: identifier)
        }
    }
}

extension JSONDocument {
    /// The members of that name of the object at `path`.
    func places(of key: String, in path: Path) -> [Path] {
        guard case .object(let object) = self[path] else { return [] }
        return object.members.indices.filter { object.members[$0].isNamed(key) }.map { path + [$0] }
    }
}
