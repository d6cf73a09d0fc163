/// What a person recognizes a URL by. It has no query, and decides nothing: what may be fetched is for the fetch guard.
package struct URLLabel: Hashable, Sendable {
    /// The host in lower case, without a port.
    package var host: String?
    /// The last component of the path, decoded and without what no file name holds; `nil` where it is empty.
    package var fileName: String?

    package init(_ url: String) {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? ""
        let authority = rest.prefix { !"/?#\\".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let host = place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
        self.host = Self.shown(host.lowercased())
        fileName = Self.fileName(ofPath: rest[authority.endIndex...])
    }

    /// - Parameter path: A query or fragment may follow.
    package static func fileName(ofPath path: some StringProtocol) -> String? {
        let last = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false).last
        return shown(last.map { PercentCoding.decode($0) ?? String($0) } ?? "")
    }

    private static func shown(_ text: String) -> String? {
        let scalars = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/" && scalar != "\\"
            }
        }
        let kept = String(String.UnicodeScalarView(scalars.prefix(255)))
        return kept.isEmpty || kept == "." || kept == ".." ? nil : kept
    }
}
