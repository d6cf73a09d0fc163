import SatchelCore

/// A convention's word for a medium's type: `jpg`, `.jpg`, `image`, `image/jpeg` or `public.jpeg`.
enum TypeWord {
    /// The word for `type` in the vocabulary that `old` belongs to; `old` itself where it already says so.
    static func rewrite(_ old: String, as type: MediaType) -> String {
        let word = old.lowercased()
        let bare = word.hasPrefix(".") ? String(word.dropFirst()) : word
        if MediaType(declared: bare) == type { return old }
        let kind = String(type.rawValue.prefix { $0 != "/" })
        switch bare {
        case "image", "video", "audio": return kind
        case _ where bare.contains("/"): return type.rawValue
        case _ where bare.contains("."): return type.uti
        default: return word.hasPrefix(".") ? "." + type.fileExtension : type.fileExtension
        }
    }
}
