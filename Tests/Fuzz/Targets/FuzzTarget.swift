/// Something that reads bytes which others write, and what must hold whatever they are. What doesn't hold ends the process.
struct FuzzTarget: Sendable {
    /// Also of its corpus, of its dictionary and of the program that fuzzes it.
    let name: String
    let run: @Sendable ([UInt8]) -> Void

    init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.run = run
    }

    static let all: [FuzzTarget] = [
        .gif, .lzw, .boxes, .units, .index, .directories, .codecMessages, .serviceMessages, .json, .payloads,
        .multipart,
        .http, .headers, .tokens, .urls, .addresses, .profiles,
    ]
}

/// Takes numbers and bytes from the front of an input; zeros where it has come to its end.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
        (0..<Number.bitWidth / 8).reduce(0) { value, _ in value << 8 | Number(truncatingIfNeeded: byte()) }
    }

    /// All that is left.
    mutating func bytes() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    /// As many lines as there are, without their ends.
    static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 10, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }
}
