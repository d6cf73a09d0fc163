/// Where a request stands in a trace: W3C Trace Context, `traceparent`.
struct TraceContext: Hashable, Sendable {
    /// 32 hexadecimal digits.
    var trace: String
    /// 16 hexadecimal digits: this service's part.
    var span: String
    var flags: String

    /// Continues the trace of a `traceparent` header, or begins one where there is none that can be read.
    init(continuing header: String?) {
        span = Self.digits(UInt64.random(in: 1 ... .max))
        let parts = (header ?? "").split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        // A later version may have more parts; ours has four.
        if parts.count >= 4, parts[0].count == 2, parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            parts[1].count == 32, parts[2].count == 16, parts[3].count == 2,
            parts[0...3].joined().allSatisfy({ $0.isHexDigit && !$0.isUppercase }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        {
            trace = parts[1]
            flags = parts[3]
        } else {
            trace = Self.digits(UInt64.random(in: 1 ... .max)) + Self.digits(UInt64.random(in: .min ... .max))
            flags = "00"
        }
    }

    /// The header for whatever is done on behalf of the request.
    var header: String { "00-\(trace)-\(span)-\(flags)" }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
