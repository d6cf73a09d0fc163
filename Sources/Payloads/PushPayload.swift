public import Attachments

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

/// The payload of a push as APNs delivers it, and the media that it names.
public struct PushPayload: Sendable {
    /// Media of a payload, at most; a medium beyond is left as it is.
    public static let maximumMedia = JobSubmission.maximumAttachments

    /// As it came.
    public let bytes: [UInt8]
    public let type: PushType
    /// What it names, each URL once, in the order of the conventions. Empty where nobody would see it: without an
    /// alert no service extension runs.
    public let media: [PayloadMedium]
    /// `aps.category`.
    public let category: String?
    /// Whether anybody sees it: it has an alert.
    public let isShown: Bool

    let document: JSONDocument
    /// Where each of `media` is named.
    let uses: [[MediumUse]]

    /// - Parameters:
    ///   - pointers: Places of media beside the known conventions.
    ///   - attachments: The identifiers of media that come with it. Any string that is `cid:` with one of them stands for that
    ///     medium (RFC 2392); those that none stands for are among ``media`` all the same.
    /// - Throws: ``PayloadError`` where it is no JSON object, or longer than APNs takes.
    public init(
        _ bytes: [UInt8], type: PushType = .alert, pointers: [JSONPointer] = [], attachments: [String] = []
    ) throws(PayloadError) {
        self.bytes = bytes
        self.type = type
        do {
            document = try JSONDocument.read(bytes, .passedOn)
        } catch {
            throw .invalidJSON(error)
        }
        guard case .object = document.root else { throw .notAnObject }
        guard bytes.count <= type.limit else { throw .tooLarge(bytes: bytes.count, limit: type.limit) }
        let aps = document.root.values(of: "aps")
        category = aps.compactMap { $0["category"]?.text }.last
        let hasAlert = aps.contains { $0["alert"].map { !$0.isNull } ?? false }
        isShown = hasAlert && (type == .alert || type == .voip)
        let found = isShown ? Self.find(in: document, pointers, attachments) : []
        media = found.map(\.medium)
        uses = found.map(\.uses)
    }

    /// Places that stand for a medium which doesn't come with it, and by which name.
    public var unknownContentIDs: [(pointer: JSONPointer, identifier: String)] {
        let known = Set(media.map(\.url))
        return MediumUse.contentIDs(in: document).filter { !known.contains($0.url) }.map { use in
            (document.pointer(of: use.path), String(use.url.dropFirst(MediumUse.contentScheme.count)))
        }
    }

    private static func find(
        in document: JSONDocument, _ pointers: [JSONPointer], _ attachments: [String]
    ) -> [(medium: PayloadMedium, uses: [MediumUse])] {
        var found = attachments.prefix(maximumMedia).map { identifier in
            let medium = PayloadMedium(
                url: MediumUse.contentID(identifier), pointer: JSONPointer(tokens: []), identifier: identifier,
                declaredType: nil, options: DisplayOptions())
            return (medium: medium, uses: [MediumUse]())
        }
        var paths: Set<JSONDocument.Path> = []
        let conventions = (Convention.known + pointers.map(Convention.init(place:))).flatMap { $0.uses(in: document) }
        for use in conventions + (attachments.isEmpty ? [] : MediumUse.contentIDs(in: document)) {
            guard paths.insert(use.urlPath).inserted else { continue }
            if let index = found.firstIndex(where: { $0.medium.url == use.url }) {
                if found[index].uses.isEmpty { found[index].medium.pointer = document.pointer(of: use.urlPath) }
                found[index].uses.append(use)
            } else if found.count < maximumMedia, !use.url.hasPrefix(MediumUse.contentScheme) {
                let declared = use.typePlaces.lazy.compactMap { document[$0].text }
                    .compactMap(MediaType.init(declared:)).first
                let medium = PayloadMedium(
                    url: use.url, pointer: document.pointer(of: use.urlPath),
                    identifier: unique(use.identifier, among: found.map(\.medium.identifier)),
                    declaredType: declared, options: use.options)
                found.append((medium, [use]))
            }
        }
        return found
    }

    private static func unique(_ identifier: String, among others: [String]) -> String {
        let name = identifier.isEmpty ? "media" : identifier
        guard others.contains(name) else { return name }
        // One more candidate than there are others: one of them is free.
        let candidates = (2...(others.count + 2)).map { "\(name)-\($0)" }
        return candidates.first { !others.contains($0) } ?? name
    }
}
