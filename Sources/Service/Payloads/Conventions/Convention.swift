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

    var place: JSONPointer
    var shape: Shape
    /// The key beside the URL that tells its type.
    var typeKey: String?
    /// The key beside the URL that holds the text to show when the media can't be.
    var alternativeKey: String?
    var display = PlaceDisplay.anything

    init(
        _ tokens: String..., shape: Shape = .url, typeKey: String? = nil, alternativeKey: String? = nil,
        display: PlaceDisplay = .anything
    ) {
        place = JSONPointer(tokens: tokens)
        self.display = display
        self.shape = shape
        self.typeKey = typeKey
        self.alternativeKey = alternativeKey
    }

    init(place: JSONPointer) {
        self.place = place
        shape = .url
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
        Convention("ab", "att", "url", typeKey: "type"),
        // CleverTap
        Convention("ct_mediaUrl", typeKey: "ct_mediaType"),
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
            use.typePlaces = typeKey.map { document.places(of: $0, in: container) } ?? []
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
