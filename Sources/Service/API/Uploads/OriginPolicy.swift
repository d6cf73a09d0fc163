import HTTPTypes

/// Which pages of other origins may make requests and read the answers: CORS, without credentials.
struct OriginPolicy: Hashable, Sendable {
    /// `*` for all.
    let origins: [String]

    /// Whether pages are answered by where they come from.
    var tellsApart: Bool { !origins.isEmpty && !origins.contains("*") }

    /// What an answer says; nothing to a page that may not read it, nor to what is no page.
    ///
    /// - Parameter exposing: Headers of the answer that the page may read.
    func fields(for origin: String?, exposing names: [String] = []) -> HTTPFields {
        guard !origins.isEmpty else { return [:] }
        var fields = HTTPFields()
        if origins.contains("*") {
            fields[.accessControlAllowOrigin] = "*"
        } else {
            fields[.vary] = "Origin"
            guard let origin, origins.contains(origin) else { return fields }
            fields[.accessControlAllowOrigin] = origin
        }
        fields[.crossOriginResourcePolicy] = "cross-origin"
        if !names.isEmpty { fields[.accessControlExposeHeaders] = names.joined(separator: ", ") }
        return fields
    }

    /// The same of an answer to what a browser asks before.
    func preflight(
        for origin: String?, methods: [HTTPRequest.Method], headers: [String], exposing names: [String]
    ) -> HTTPFields {
        var fields = fields(for: origin, exposing: names)
        guard fields[.accessControlAllowOrigin] != nil else { return fields }
        fields[.accessControlAllowMethods] = methods.map(\.rawValue).joined(separator: ", ")
        fields[.accessControlAllowHeaders] = headers.joined(separator: ", ")
        fields[.accessControlMaxAge] = "86400"
        return fields
    }
}
