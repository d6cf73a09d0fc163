public import Attachments

/// How a push is sent; the raw value is that of the `apns-push-type` header.
public enum PushType: String, Hashable, Sendable, Codable, CaseIterable {
    case alert
    case background
    case complication
    case controls
    case fileprovider
    case liveactivity
    case location
    case mdm
    case pushtotalk
    case voip
    case widgets

    /// Bytes of a payload, at most, as APNs takes it.
    public var limit: Int {
        self == .voip ? 5120 : 4096
    }
}

/// A medium that a payload names.
public struct PayloadMedium: Hashable, Sendable {
    public var url: String
    /// Where its URL was found first.
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

    let document: JSONDocument
    /// Where each of `media` is named.
    let uses: [[MediumUse]]

    /// - Parameter pointers: Places of media beside the known conventions.
    /// - Throws: ``PayloadError`` where it is no JSON object, or longer than APNs takes.
    public init(_ bytes: [UInt8], type: PushType = .alert, pointers: [JSONPointer] = []) throws(PayloadError) {
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
        let isShown = hasAlert && (type == .alert || type == .voip)
        let found = isShown ? Self.find(in: document, pointers) : []
        media = found.map(\.medium)
        uses = found.map(\.uses)
    }

    private static func find(
        in document: JSONDocument, _ pointers: [JSONPointer]
    ) -> [(medium: PayloadMedium, uses: [MediumUse])] {
        var found: [(medium: PayloadMedium, uses: [MediumUse])] = []
        var paths: Set<JSONDocument.Path> = []
        for use in (Convention.known + pointers.map(Convention.init(place:))).flatMap({ $0.uses(in: document) }) {
            guard paths.insert(use.urlPath).inserted else { continue }
            if let index = found.firstIndex(where: { $0.medium.url == use.url }) {
                found[index].uses.append(use)
            } else if found.count < maximumMedia {
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
