/// What came of one attempt of a call.
public struct CallAnswer: Hashable, Sendable, Codable {
    /// Of a call the last ones are kept.
    public static let kept = 10
    /// Of what a receiver said, in bytes; enough for an error's message.
    public static let bodyBytes = 200

    /// 1 for the first; counted anew when the call is replayed.
    public var attempt: Int
    public var at: Instant
    /// From the first look at the URL to the end of the answer.
    public var seconds: Double
    /// Nil where there was no answer.
    @Nullable public var status: Int?
    /// Why it wasn't the end, or the end was a failure.
    @Nullable public var reason: String?
    /// The first bytes of the answer's body, as far as they are text; no token in it is longer than people are shown.
    @Nullable public var body: String?

    public init(
        attempt: Int, at: Instant, seconds: Double, status: Int? = nil, reason: String? = nil, body: String? = nil
    ) {
        self.attempt = attempt
        self.at = at
        self.seconds = (seconds * 1000).rounded() / 1000
        self.status = status
        self.reason = reason
        self.body = body
    }
}

extension AccessToken {
    /// Of a signing secret.
    private static let secretPrefix = Array("whsec_".utf8)
    /// Those of tokens are `satl_` and its like.
    private static let prefixes: [[UInt8]] =
        "abcdefghijklmnopqrstuvwxyz".utf8.map { Array("sat".utf8) + [$0, UInt8(ascii: "_")] } + [secretPrefix]

    /// A text of somebody who knows tokens, with each in short: an answer may say again what was sent.
    public static func shortened(in text: String) -> String {
        var kept: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let first = rest.first {
            guard let prefix = prefixes.first(where: { rest.starts(with: $0) }) else {
                kept.append(first)
                rest.removeFirst()
                continue
            }
            let token = rest.prefix { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                // Base64's, of which secrets are.
                case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): prefix == secretPrefix
                default: false
                }
            }
            kept += token.prefix(max(shownLength, prefix.count))
            if token.count > shownLength { kept += Array("…".utf8) }
            rest = rest.dropFirst(token.count)
        }
        return String(decoding: kept, as: UTF8.self)
    }
}
