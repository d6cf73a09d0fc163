public import FoundationEssentials

/// Where a text has the key of a rendition: it is found again by a link that opens that, for as long as the link lives.
public struct RenditionKeyPlace: Hashable, Sendable {
    /// The link's id.
    public var link: String
    public var role: RenditionRole

    public init(link: String, role: RenditionRole) {
        self.link = link
        self.role = role
    }
}

/// A text that holds tokens and keys of renditions, as it is kept: what each is found by in its place, and no secret.
///
/// A place is the control character SUB (0x1A), and the first 27 characters of the token, which are its prefix and its id; or of
/// a key, `key:`, the id of a link, `:`, the rendition's role and another SUB. No JSON text has a bare control character
/// (RFC 8259, section 7); where other bytes have a SUB, it is kept twice. So every text can be kept, and comes out again byte
/// for byte.
public struct TokenTemplate: Hashable, Sendable, Codable {
    private static let mark: UInt8 = 0x1A
    /// Of a token's text: the prefix and the id.
    private static let nameLength = 27
    private static let prefixLength = 5
    /// No token begins so.
    private static let keyPrefix = Array("key:".utf8)

    /// As it is kept.
    public let stored: Data

    /// Reads what ``stored`` was.
    public init(stored: Data) {
        self.stored = stored
    }

    /// - Parameters:
    ///   - tokens: Those that the text may hold; any others stay in it as they are.
    ///   - keys: Those that it may hold.
    public init(_ text: Data, hiding tokens: [AccessToken], keys: [RenditionKeyPlace: String] = [:]) {
        let secrets =
            tokens.map { Array($0.secretText.utf8) }.filter { $0.count > Self.nameLength }
            .map { (text: $0, name: Array($0.prefix(Self.nameLength))) }
            + keys.filter { !$1.isEmpty }.map { place, key in
                let name = Self.keyPrefix + Array("\(place.link):\(place.role.rawValue)".utf8) + [Self.mark]
                return (text: Array(key.utf8), name: name)
            }
        let bytes = Array(text)
        var stored: [UInt8] = []
        stored.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let rest = bytes[index...]
            if let secret = secrets.first(where: { rest.first == $0.text.first && rest.starts(with: $0.text) }) {
                stored.append(Self.mark)
                stored.append(contentsOf: secret.name)
                index += secret.text.count
                continue
            }
            if bytes[index] == Self.mark { stored.append(Self.mark) }
            stored.append(bytes[index])
            index += 1
        }
        self.stored = Data(stored)
    }

    /// The ids of all tokens in it, and of the links by which its keys are found.
    public var tokens: Set<String> {
        Set(
            pieces.compactMap { piece in
                switch piece {
                case .bytes: nil
                case .token(_, let id): id
                case .key(let place): place.link
                }
            })
    }

    /// Where it has keys of renditions.
    public var keys: Set<RenditionKeyPlace> {
        Set(
            pieces.compactMap { piece in
                guard case .key(let place) = piece else { return nil }
                return place
            })
    }

    /// The text with its tokens and keys.
    ///
    /// - Parameters:
    ///   - tokens: By their ids. One that isn't there, as it has ended, reads as its first 8 characters.
    ///   - keys: One that isn't there reads as nothing.
    public func text(with tokens: [String: AccessToken], keys: [RenditionKeyPlace: String] = [:]) -> Data {
        pieces.reduce(into: Data(capacity: stored.count)) { text, piece in
            switch piece {
            case .bytes(let bytes): text.append(contentsOf: bytes)
            case .token(let shown, let id): text.append(contentsOf: (tokens[id]?.secretText ?? shown).utf8)
            case .key(let place): text.append(contentsOf: (keys[place] ?? "").utf8)
            }
        }
    }

    private enum Piece {
        case bytes(ArraySlice<UInt8>)
        case token(shown: String, id: String)
        case key(RenditionKeyPlace)
    }

    private var pieces: [Piece] {
        var pieces: [Piece] = []
        var rest = Array(stored)[...]
        while let mark = rest.firstIndex(of: Self.mark) {
            let after = rest[(mark + 1)...]
            if after.first == Self.mark {
                pieces.append(.bytes(rest[...mark]))
                rest = after.dropFirst()
                continue
            }
            pieces.append(.bytes(rest[..<mark]))
            if after.starts(with: Self.keyPrefix) {
                let name = after.dropFirst(Self.keyPrefix.count).prefix { $0 != Self.mark }
                let parts = String(decoding: name, as: UTF8.self).split(separator: ":", maxSplits: 1).map(String.init)
                if parts.count == 2, let role = RenditionRole(rawValue: parts[1]) {
                    pieces.append(.key(RenditionKeyPlace(link: parts[0], role: role)))
                }
                rest = after[name.endIndex...].dropFirst()
            } else {
                let name = String(decoding: after.prefix(Self.nameLength), as: UTF8.self)
                pieces.append(
                    .token(
                        shown: String(name.prefix(AccessToken.shownLength)),
                        id: String(name.dropFirst(Self.prefixLength))))
                rest = after.dropFirst(Self.nameLength)
            }
        }
        return pieces + [.bytes(rest)]
    }
}
