public import SatchelCore
internal import Crypto
internal import FoundationEssentials
internal import Platform

/// Signs requests with AWS Signature Version 4, as S3 wants it: paths are encoded once and not normalized.
///
/// After "Authenticating Requests: Using the Authorization Header" and "Authenticating Requests: Using Query Parameters" in
/// the Amazon S3 API Reference. A value without clock, input or output.
public struct SigV4: Sendable {
    public var credentials: S3Credentials
    public var region: String
    public var service: String

    public init(credentials: S3Credentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// What a signature covers of a request, nothing of it encoded.
    public struct Request: Sendable {
        public var method: String
        /// The host, with its port where that isn't the scheme's own.
        public var authority: String
        /// Begins with a slash.
        public var path: String
        public var query: [(name: String, value: String)]
        /// Beside `Host` and those that signing adds.
        public var headers: [(name: String, value: String)]

        public init(
            _ method: String, authority: String, path: String, query: [(name: String, value: String)] = [],
            headers: [(name: String, value: String)] = []
        ) {
            self.method = method
            self.authority = authority
            self.path = path
            self.query = query
            self.headers = headers
        }

        /// Path and query as they go into the URL.
        public var target: String {
            SigV4.encoded(path, keeping: "/") + (query.isEmpty ? "" : "?" + SigV4.encoded(query).joined(separator: "&"))
        }
    }

    /// The hash of what a presigned URL's request brings, which nobody knows beforehand.
    static let unsigned = "UNSIGNED-PAYLOAD"

    /// Headers that proxies or clients may change on the way.
    private static let unsignedHeaders: Set = [
        "authorization", "expect", "transfer-encoding", "user-agent", "x-amzn-trace-id",
    ]

    /// All headers that the request is to be sent with.
    ///
    /// - Parameter hash: SHA-256 of the body, in lower-case hexadecimal: the server compares it.
    public func signed(
        _ request: Request, hash: String, at instant: Instant
    ) -> [(name: String, value: String)] {
        let time = Self.time(instant)
        var headers = [(name: "Host", value: request.authority)] + request.headers
        headers += [(name: "X-Amz-Date", value: time), (name: "X-Amz-Content-SHA256", value: hash)]
        if let token = credentials.sessionToken { headers.append((name: "X-Amz-Security-Token", value: token)) }
        let canonical = Self.canonical(headers)
        let signature = signature(
            of: request.method, Self.encoded(request.path, keeping: "/"), Self.encoded(request.query), canonical,
            hash: hash, at: time)
        let names = canonical.map(\.name).joined(separator: ";")
        let value =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope(time)), SignedHeaders=\(names), Signature=\(signature)"
        return headers + [(name: "Authorization", value: value)]
    }

    /// Path and query of a URL that anybody may use until it runs out; of the headers it covers `Host` alone.
    ///
    /// - Parameter duration: From `instant`; at most a week, in whole seconds.
    public func presigned(_ request: Request, for duration: Duration, at instant: Instant) -> String {
        let time = Self.time(instant)
        var request = request
        request.query += [
            (name: "X-Amz-Algorithm", value: "AWS4-HMAC-SHA256"),
            (name: "X-Amz-Credential", value: "\(credentials.accessKey)/\(scope(time))"),
            (name: "X-Amz-Date", value: time),
            (name: "X-Amz-Expires", value: String(min(max(duration.components.seconds, 1), 7 * 86_400))),
            (name: "X-Amz-SignedHeaders", value: "host"),
        ]
        if let token = credentials.sessionToken { request.query.append((name: "X-Amz-Security-Token", value: token)) }
        let signature = signature(
            of: request.method, Self.encoded(request.path, keeping: "/"), Self.encoded(request.query),
            Self.canonical([(name: "Host", value: request.authority)]), hash: Self.unsigned, at: time)
        return request.target + "&X-Amz-Signature=" + signature
    }

    private func scope(_ time: String) -> String { "\(time.prefix(8))/\(region)/\(service)/aws4_request" }

    private func signature(
        of method: String, _ path: String, _ query: [String], _ headers: [(name: String, value: String)], hash: String,
        at time: String
    ) -> String {
        let canonical =
            [method, path, query.joined(separator: "&")].joined(separator: "\n") + "\n"
            + headers.map { "\($0.name):\($0.value)\n" }.joined() + "\n"
            + headers.map(\.name).joined(separator: ";") + "\n" + hash
        let text = ["AWS4-HMAC-SHA256", time, scope(time), SHA256.hash(data: Data(canonical.utf8)).hexadecimal]
        var key = Data("AWS4\(credentials.secretKey)".utf8)
        for part in [String(time.prefix(8)), region, service, "aws4_request", text.joined(separator: "\n")] {
            key = Data(HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: SymmetricKey(data: key)))
        }
        return key.hexadecimal
    }

    /// Names in lower case and order, values with single spaces; those of one name are one, in the order they came.
    private static func canonical(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for (name, value) in headers where !unsignedHeaders.contains(name.lowercased()) {
            let words = value.split { $0 == " " || $0 == "\t" }
            values[name.lowercased(), default: []].append(words.joined(separator: " "))
        }
        return values.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value.joined(separator: ",")) }
    }

    /// A query's items as they are signed: encoded, then ordered by name and value.
    private static func encoded(_ query: [(name: String, value: String)]) -> [String] {
        query.map { (encoded($0.name), encoded($0.value)) }.sorted(by: <).map { $0 + "=" + $1 }
    }

    /// Percent-encoded but for letters, digits, `-._~` and what is kept, in UTF-8 (RFC 3986, section 2.3).
    static func encoded(_ text: String, keeping kept: String = "") -> String {
        PercentCoding.encode(text) { PercentCoding.isUnreserved($0) || kept.utf8.contains($0) }
    }

    /// `20261121T101500Z`.
    private static func time(_ instant: Instant) -> String {
        instant.description.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    }
}
