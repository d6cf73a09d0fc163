public import FoundationEssentials

/// A text that holds tokens, as it is kept: each token's kind and id in the token's place, and no secret.
///
/// A place is the control character SUB (0x1A) and the first 27 characters of the token, which are its prefix and its id. No
/// JSON text has a bare control character (RFC 8259, section 7); where other bytes have a SUB, it is kept twice. So every text
/// can be kept, and comes out again byte for byte.
public struct TokenTemplate: Hashable, Sendable, Codable {
    private static let mark: UInt8 = 0x1A
    /// Of a token's text: the prefix and the id.
    private static let nameLength = 27
    private static let prefixLength = 5

    /// As it is kept.
    public let stored: Data

    /// Reads what ``stored`` was.
    public init(stored: Data) {
        self.stored = stored
    }

    /// - Parameter tokens: Those that the text may hold; any others stay in it as they are.
    public init(_ text: Data, hiding tokens: [AccessToken]) {
        let secrets = tokens.map { Array($0.secretText.utf8) }.filter { $0.count > Self.nameLength }
        let bytes = Array(text)
        var stored: [UInt8] = []
        stored.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let rest = bytes[index...]
            if let secret = secrets.first(where: { rest.first == $0.first && rest.starts(with: $0) }) {
                stored.append(Self.mark)
                stored.append(contentsOf: secret.prefix(Self.nameLength))
                index += secret.count
                continue
            }
            if bytes[index] == Self.mark { stored.append(Self.mark) }
            stored.append(bytes[index])
            index += 1
        }
        self.stored = Data(stored)
    }

    /// The ids of all tokens in it.
    public var tokens: Set<String> {
        Set(
            pieces.compactMap { piece in
                guard case .token(_, let id) = piece else { return nil }
                return id
            })
    }

    /// The text with its tokens.
    ///
    /// - Parameter tokens: By their ids. One that isn't there, as it has ended, reads as its first 8 characters.
    public func text(with tokens: [String: AccessToken]) -> Data {
        pieces.reduce(into: Data(capacity: stored.count)) { text, piece in
            switch piece {
            case .bytes(let bytes): text.append(contentsOf: bytes)
            case .token(let shown, let id): text.append(contentsOf: (tokens[id]?.secretText ?? shown).utf8)
            }
        }
    }

    private enum Piece {
        case bytes(ArraySlice<UInt8>)
        case token(shown: String, id: String)
    }

    private var pieces: [Piece] {
        var pieces: [Piece] = []
        var rest = Array(stored)[...]
        while let mark = rest.firstIndex(of: Self.mark) {
            let after = rest[(mark + 1)...]
            if after.first == Self.mark {
                pieces.append(.bytes(rest[...mark]))
                rest = after.dropFirst()
            } else {
                let name = String(decoding: after.prefix(Self.nameLength), as: UTF8.self)
                pieces.append(.bytes(rest[..<mark]))
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

extension AccessRecords {
    /// A text with its tokens, those that have ended in short.
    public func text(of template: TokenTemplate, of tenant: TenantID) async throws(AttachmentError) -> Data {
        template.text(with: try await tokens(template.tokens, of: tenant))
    }
}
