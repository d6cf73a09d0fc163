extension ForeignFormat {
    /// What files of a format have in their first kilobytes.
    enum Part: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        case bytes(at: Int, [UInt8])
        /// These somewhere in the first `count` bytes.
        case bytesWithin(count: Int, [UInt8])
        /// A text that begins so, behind a byte order mark and white space; in lower case, as which all is compared.
        case text(String)
        /// A text that has this in its first kilobytes, and one that hasn't.
        case textWithin(String)
        case without(String)
        /// XML whose first element has this name, whatever its prefix.
        case root(String)
        /// An object of JSON, or a list of texts, objects or lists.
        case json

        /// Of a file that has it, the first byte is one of these; nil where it may be any.
        var firstBytes: [UInt8]? {
            switch self {
            case .bytes(0, let sign): Array(sign.prefix(1))
            case .text(let sign): Self.beforeText + (sign.prefix(1) + sign.prefix(1).uppercased()).utf8
            case .root: Self.beforeText + "<".utf8
            case .json: Self.beforeText + "{[".utf8
            case .bytes, .bytesWithin, .textWithin, .without: nil
            }
        }

        /// White space and how byte order marks begin.
        private static let beforeText: [UInt8] = Array(0x09...0x0d) + [0x1b, 0x20, 0xef, 0xfe, 0xff]

        init(stringLiteral text: String) { self = .bytes(at: 0, Array(text.utf8)) }

        init(arrayLiteral bytes: UInt8...) { self = .bytes(at: 0, bytes) }

        static func at(_ place: Int, _ bytes: [UInt8]) -> Part { .bytes(at: place, bytes) }

        static func at(_ place: Int, _ text: String) -> Part { .bytes(at: place, Array(text.utf8)) }

        /// An IFF or RIFF file (EA IFF 85) of one of these types.
        static func chunk(_ name: String, of types: String...) -> [[Part]] { types.map { [.at(0, name), .at(8, $0)] } }

        static func within(_ count: Int, _ bytes: [UInt8]) -> Part { .bytesWithin(count: count, bytes) }

        static func within(_ count: Int, _ text: String) -> Part { .bytesWithin(count: count, Array(text.utf8)) }
    }

    /// What a file is called whose bytes don't tell what it is: extensions, and libmagic's type for it.
    struct Naming: Hashable, Sendable {
        let extensions: Set<String>
        let look: String

        init(_ extensions: String..., of look: String = Naming.unknown) {
            (self.extensions, self.look) = (Set(extensions), look)
        }

        static let unknown = "application/octet-stream"
        static let zip = "application/zip"
        static let gzip = "application/gzip"
        static let text = "text/plain"
    }

    /// How a file begins, and the text that this is.
    struct Head {
        private let bytes: [UInt8]
        /// Its first kilobytes in UTF-8, up to what no text has, with small letters.
        private let text: [UInt8]
        private let root: String?

        /// Longer prologues and headers are none of a file that anyone would send as media.
        private static let textBytes = 4096

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            text = Self.text(of: bytes.prefix(Self.textBytes))
            root = Self.root(of: String(decoding: text, as: UTF8.self))
        }

        func has(_ part: Part) -> Bool {
            switch part {
            case .bytes(let place, let sign): bytes.dropFirst(place).starts(with: sign)
            case .bytesWithin(let count, let sign): bytes.prefix(count).firstRange(of: sign) != nil
            case .text(let sign): text.starts(with: sign.utf8)
            case .textWithin(let sign): text.firstRange(of: sign.utf8) != nil
            case .without(let sign): text.firstRange(of: sign.utf8) == nil
            case .root(let name): root == name.lowercased()
            case .json: isJSON
            }
        }

        private var isJSON: Bool {
            guard let next = text.dropFirst().first(where: { $0 > 0x20 }) else { return false }
            return text.starts(with: "{".utf8) && "\"}".utf8.contains(next)
                || text.starts(with: "[".utf8) && "{[\"]".utf8.contains(next)
        }

        private static func text(of bytes: ArraySlice<UInt8>) -> [UInt8] {
            let units: [UInt8]
            if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
                let low = bytes.first == 0xff ? 0 : 1
                let pairs = stride(from: 2, to: bytes.count - 1, by: 2).map { place in
                    UInt16(bytes[place + 1 - low]) << 8 | UInt16(bytes[place + low])
                }
                units = Array(String(decoding: pairs, as: UTF16.self).utf8)
            } else {
                units = Array(bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes)
            }
            let isText = { (byte: UInt8) in byte >= 0x20 || (0x09...0x0d).contains(byte) || byte == 0x1b }
            return units.prefix(while: isText).drop { $0 <= 0x20 }.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        }

        /// The name of the first element, behind declarations, comments and a document type.
        private static func root(of text: String) -> String? {
            var rest = text[...]
            while rest.first == "<" {
                let name = rest.dropFirst()
                guard name.first == "?" || name.first == "!" else {
                    return name.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }.split(separator: ":").last
                        .map(String.init)
                }
                guard let end = rest.firstRange(of: rest.hasPrefix("<!--") ? "-->" : ">") else { return nil }
                rest = rest[end.upperBound...].drop { $0 != "<" }
            }
            return nil
        }
    }
}
