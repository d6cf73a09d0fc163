/// What kept an origin from giving a file.
public struct FetchCause: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The word for programs. It never changes.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The origin answered with another status than 200.
        case status
        /// The host name has no address, or can't be resolved.
        case dns
        case tls, refused, unreachable
        /// The connection ended before the file did.
        case reset
        /// A redirect that can't be followed.
        case redirect
        case tooSlow = "too_slow"
        /// The answer is not valid HTTP.
        case invalidAnswer = "invalid_answer"
        /// The file came in a coding that the request excluded.
        case encoding
    }

    public var type: Kind
    public var status: Int?

    public init(_ type: Kind, status: Int? = nil) {
        self.type = type
        self.status = status
    }

    /// `status 404`, `dns`.
    public var description: String { status.map { "\(type.rawValue) \($0)" } ?? type.rawValue }

    /// Whether another attempt can succeed. An origin that answered below 500 will give the same answer again; 202, 408,
    /// 425 and 429 ask for another attempt.
    var isRetryable: Bool {
        if let status { return status >= 500 || [202, 408, 425, 429].contains(status) }
        return ![.redirect, .encoding].contains(type)
    }

    /// What the sender can do.
    var advice: String {
        switch (type, status) {
        case (_, 401), (_, 403), (_, 407): "Check that the URL can be read without signing in."
        case (_, 404), (_, 410): "Check that the URL is right and that the file still exists."
        case (.redirect, _), (_, .some(300..<400)): "Use the final URL."
        case (.status, _) where !isRetryable: "Check that the URL returns the file itself."
        case (.dns, _): "Check the spelling of the host, or upload the file."
        case (.tls, _): "Check the origin's certificate, or upload the file."
        case (.refused, _), (.unreachable, _): "Check the URL's host and port, or upload the file."
        case (.invalidAnswer, _), (.encoding, _): "Correct the origin, or upload the file."
        default: "Try again later, or upload the file."
        }
    }
}
