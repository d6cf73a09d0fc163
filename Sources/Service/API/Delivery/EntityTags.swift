/// The entity tags of an `If-Match` or `If-None-Match` header (RFC 9110, section 13.1).
enum EntityTags: Hashable, Sendable {
    case any
    case these([Tag])

    struct Tag: Hashable, Sendable {
        /// With its quotes.
        var text: String
        var isWeak: Bool

        /// Nil for anything but one whole tag.
        init?(_ text: some StringProtocol) {
            isWeak = text.hasPrefix("W/")
            let opaque = isWeak ? text.dropFirst(2) : text[...]
            guard opaque.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\""),
                !opaque.dropFirst().dropLast().contains("\"")
            else { return nil }
            self.text = String(opaque)
        }
    }

    /// What isn't a tag is passed over.
    init(header: String) {
        let items = header.split(separator: ",").map { item in
            let start = item.drop { $0 == " " || $0 == "\t" }
            return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
        }
        self = items == ["*"] ? .any : .these(items.compactMap { Tag($0) })
    }

    /// Whether `tag`, a strong one, is among them.
    ///
    /// - Parameter strongly: Weak ones don't count.
    func contain(_ tag: String, strongly: Bool) -> Bool {
        switch self {
        case .any: true
        case .these(let tags): tags.contains { $0.text == tag && !(strongly && $0.isWeak) }
        }
    }
}
