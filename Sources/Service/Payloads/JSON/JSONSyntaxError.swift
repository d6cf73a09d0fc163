/// Where a text stops being JSON (RFC 8259), and why.
public struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A clause: `a comma or '}' is expected`.
    public var reason: String
    /// 1 for the first.
    public var line: Int
    /// In bytes of the line; 1 for the first.
    public var column: Int

    init(_ reason: String, at offset: Int, in bytes: [UInt8]) {
        let before = bytes.prefix(offset)
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        self.reason = reason
        line = 1 + before.count { $0 == 0x0A }
        column = 1 + offset - start
    }

    public var description: String {
        "\(reason) (line \(line), column \(column))"
    }
}
