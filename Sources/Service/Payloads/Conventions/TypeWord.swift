import SatchelCore

/// A convention's word for a medium's type: `jpg`, `.jpg`, `image`, `image/jpeg` or `public.jpeg`.
enum TypeWord {
    /// The word for `type` in the vocabulary that `old` belongs to; `old` itself where it already says so.
    static func rewrite(_ old: String, as type: MediaType) -> String {
        let bare = bare(old)
        if MediaType(declared: bare) == type { return old }
        let new =
            switch bare {
            case _ where kinds.contains(bare): String(type.rawValue.prefix { $0 != "/" })
            case _ where bare.contains("/"): type.rawValue
            case _ where bare.contains("."): type.uti
            default: (old.hasPrefix(".") ? "." : "") + type.fileExtension
            }
        return old == old.uppercased() && old != old.lowercased() ? new.uppercased() : new
    }

    /// Whether a text is a word for a type of media.
    static func isOne(_ text: String) -> Bool {
        let bare = bare(text)
        return MediaType(declared: bare) != nil || kinds.contains(String(bare.prefix { $0 != "/" }))
            || bare.hasPrefix("public.")
    }

    private static let kinds: Set<String> = ["image", "video", "audio"]

    private static func bare(_ word: String) -> String {
        let word = word.lowercased()
        return word.hasPrefix(".") ? String(word.dropFirst()) : word
    }
}
