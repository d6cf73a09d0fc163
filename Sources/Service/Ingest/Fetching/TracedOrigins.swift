public import SatchelCore

/// The origins that fetches tell which trace they belong to, as `fetch.trace` lists them: a trace is the operator's own, and
/// who else gets it learns which of its fetches belong together.
public struct TracedOrigins: Sendable {
    private let origins: Set<String>

    /// - Parameter origins: As ``origin(_:)`` has them.
    public init(_ origins: some Sequence<String> = []) {
        self.origins = Set(origins)
    }

    /// The canonical text of an origin that is written as `https://media.example.com` or `http://10.0.0.7:8080`.
    ///
    /// - Throws: `invalid_source`, saying what is wrong.
    public static func origin(_ text: String) throws(AttachmentError) -> String {
        let url = try FetchURL(text)
        guard url.target == "/", !text.contains("#") else {
            throw .invalidSource(
                reason: "an origin must be a scheme, a host and, unless it is the scheme's default, a port")
        }
        return url.origin
    }

    func contains(_ url: FetchURL) -> Bool { origins.contains(url.origin) }
}
