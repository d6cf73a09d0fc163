public import SatchelCore

/// A medium that a payload names, or that comes with it.
public struct PayloadMedium: Hashable, Sendable {
    /// Of one that comes with the payload, `cid:` and its identifier.
    public var url: String
    /// Where its URL was found first; the root where it isn't named.
    public var pointer: JSONPointer
    /// Unique in its payload: the convention's own name for it, else the key that it is under, else that with a number.
    public var identifier: String
    /// What the payload says of its type; nil where that names no type that is accepted.
    public var declaredType: MediaType?
    /// What the payload asks for, in terms of the source.
    public var options: DisplayOptions
}

/// The payload of a push, as it is sent to a service, and the media that it names.
public struct PushPayload: Sendable {
    /// Media of a payload, at most; a medium beyond is left as it is.
    public static let maximumMedia = JobSubmission.maximumAttachments

    /// As it came.
    public let bytes: [UInt8]
    public let format: PayloadFormat
    public let type: PushType
    /// What it names, each URL once, in the order of the conventions. Empty where nobody would see it: without an
    /// alert no service extension runs.
    public let media: [PayloadMedium]
    /// The category's id: `aps.category`, or what the format has in its place.
    public let category: String?
    /// Whether anybody sees it: it has an alert.
    public let isShown: Bool

    let document: JSONDocument
    /// One, or as many as the format may have.
    let messages: [Message]

    /// What is delivered at once.
    struct Message: Sendable {
        /// In the payload.
        let path: JSONDocument.Path
        /// Its own.
        let document: JSONDocument
        let isShown: Bool
        /// Where it names each of the payload's media.
        var uses: [[MediumUse]] = []
    }

    /// - Parameters:
    ///   - type: Of a payload for APNs.
    ///   - pointers: Places of media in each message, beside the known conventions.
    ///   - attachments: The identifiers of media that come with it. Any string that is `cid:` with one of them stands for that
    ///     medium (RFC 2392); those that none stands for are among ``media`` all the same.
    ///   - rules: ``JSONRules/enriched`` of one that was enriched.
    /// - Throws: ``PayloadError`` where it is not of the format's form, or longer than the service takes.
    public init(
        _ bytes: [UInt8], format: PayloadFormat = .apns, type: PushType = .alert, pointers: [JSONPointer] = [],
        attachments: [String] = [], rules: JSONRules = .passedOn
    ) throws(PayloadError) {
        self.bytes = bytes
        self.format = format
        self.type = type
        do {
            document = try JSONDocument.read(bytes, rules)
        } catch {
            throw .invalidJSON(error)
        }
        let form = format.rules
        var messages = try Self.messages(in: document, format, type)
        for message in messages {
            let size = form.size(of: message.document)
            guard size <= format.limit(type) else {
                throw .tooLarge(
                    format, at: document.pointer(of: message.path), bytes: size, limit: format.limit(type))
            }
        }
        category = messages.lazy.compactMap(\.document).compactMap { $0.text(at: form.category) }.first
        isShown = messages.contains(where: \.isShown)
        var search = MediaSearch(whole: document, attachments: isShown ? attachments : [])
        for index in messages.indices where messages[index].isShown {
            search.look(through: &messages[index], form.conventions + pointers.map(Convention.init(place:)))
        }
        media = search.media
        for index in messages.indices {
            messages[index].uses += Array(repeating: [], count: media.count - messages[index].uses.count)
        }
        self.messages = messages
    }

    private static func messages(
        in document: JSONDocument, _ format: PayloadFormat, _ type: PushType
    ) throws(PayloadError) -> [Message] {
        let rules = format.rules
        let isSeen = format != .apns || type == .alert || type == .voip
        var found: [(path: JSONDocument.Path, document: JSONDocument)] = [([], document)]
        if rules.maximumMessages > 1, case .array(let array) = document.root {
            guard array.elements.count <= rules.maximumMessages else { throw .notAMessage(format) }
            found = array.elements.enumerated().map { index, element in
                ([index], JSONDocument(before: [], root: element.value, after: []))
            }
        }
        var messages: [Message] = []
        for (path, document) in found {
            guard document.root.isObject,
                rules.required.map({ document.paths(to: $0).contains { document[$0].isObject } }) ?? true
            else { throw .notAMessage(format) }
            messages.append(Message(path: path, document: document, isShown: isSeen && rules.shows(document)))
        }
        return messages
    }

    /// Places that stand for a medium which doesn't come with it, and by which name.
    public var unknownContentIDs: [(pointer: JSONPointer, identifier: String)] {
        let known = Set(media.map(\.url))
        return MediumUse.contentIDs(in: document).filter { !known.contains($0.url) }.map { use in
            (document.pointer(of: use.path), String(use.url.dropFirst(MediumUse.contentScheme.count)))
        }
    }

    /// Whether a medium is named in none of its messages, so that all of them bring it along.
    func isUnnamed(_ index: Int) -> Bool { messages.allSatisfy { $0.uses[index].isEmpty } }
}

extension JSONDocument {
    /// The last string that one of some pointers names; of the first of them that names any.
    func text(at pointers: [JSONPointer]) -> String? {
        pointers.lazy.compactMap { paths(to: $0).compactMap { self[$0].text }.last }.first
    }
}

/// The media of a payload, as far as its messages were looked through.
private struct MediaSearch {
    let whole: JSONDocument
    let hasAttachments: Bool
    private(set) var media: [PayloadMedium]
    /// By its place in the list of media: whether no string was found yet that stands for it.
    private var unnamed: Set<Int>

    init(whole: JSONDocument, attachments: [String]) {
        self.whole = whole
        hasAttachments = !attachments.isEmpty
        media = attachments.prefix(PushPayload.maximumMedia).map { identifier in
            PayloadMedium(
                url: MediumUse.contentID(identifier), pointer: .root, identifier: identifier, declaredType: nil,
                options: DisplayOptions())
        }
        unnamed = Set(media.indices)
    }

    mutating func look(through message: inout PushPayload.Message, _ conventions: [Convention]) {
        var uses: [[MediumUse]] = Array(repeating: [], count: media.count)
        var paths: Set<JSONDocument.Path> = []
        let document = message.document
        let known = conventions.flatMap { $0.uses(in: document) }
        for use in known + (hasAttachments ? MediumUse.contentIDs(in: document) : []) {
            guard paths.insert(use.urlPath).inserted else { continue }
            let pointer = whole.pointer(of: message.path + use.urlPath)
            if let index = media.firstIndex(where: { $0.url == use.url }) {
                if unnamed.remove(index) != nil { media[index].pointer = pointer }
                uses[index].append(use)
            } else if media.count < PushPayload.maximumMedia, !use.url.hasPrefix(MediumUse.contentScheme) {
                let declared = use.typePlaces.lazy.compactMap { document[$0].text }
                    .compactMap(MediaType.init(declared:)).first
                media.append(
                    PayloadMedium(
                        url: use.url, pointer: pointer,
                        identifier: Self.unique(use.identifier, among: media.map(\.identifier)),
                        declaredType: declared, options: use.options))
                uses.append([use])
            }
        }
        message.uses = uses
    }

    private static func unique(_ identifier: String, among others: [String]) -> String {
        let name = identifier.isEmpty ? "media" : identifier
        guard others.contains(name) else { return name }
        // One more candidate than there are others: one of them is free.
        let candidates = (2...(others.count + 2)).map { "\(name)-\($0)" }
        return candidates.first { !others.contains($0) } ?? name
    }
}
