import SatchelCore
import NIOCore

@testable import API
@testable import Stores

extension FuzzTarget {
    /// Bodies of forms, in pieces: the same parts come out however they are cut, and as many bytes as went in at the most.
    static let multipart = FuzzTarget("multipart") { bytes in
        var input = FuzzInput(bytes)
        let size = Int(input.byte())
        let body = input.bytes()
        let whole = parts(of: body, inPiecesOf: body.count)
        let pieces = parts(of: body, inPiecesOf: max(1, size))
        precondition(whole == pieces, "the parts depend on how they come")
        precondition((whole ?? []).reduce(0) { $0 + $1.bytes.count } <= body.count)
    }

    private struct Part: Equatable {
        var head: MultipartHead
        var bytes: [UInt8] = []
        var isWhole = false
    }

    /// Nil where it is no form.
    private static func parts(of body: [UInt8], inPiecesOf size: Int) -> [Part]? {
        guard var parser = try? MultipartParser(boundary: "frontier") else { return nil }
        var parts: [Part] = []
        var rest = body[...]
        while !rest.isEmpty {
            guard let events = try? parser.feed(ByteBuffer(bytes: rest.prefix(max(1, size)))) else { return nil }
            rest = rest.dropFirst(max(1, size))
            for event in events {
                switch event {
                case .begin(let head):
                    precondition(parts.last?.isWhole ?? true, "a part begins within another")
                    parts.append(Part(head: head))
                case .bytes(let buffer): parts[parts.count - 1].bytes += buffer.readableBytesView
                case .end: parts[parts.count - 1].isWhole = true
                }
            }
        }
        return (try? parser.finish()) == nil ? nil : parts
    }

    /// Values of headers and queries: ranges, entity tags, parameters, structured fields, names of files.
    static let headers = FuzzTarget("headers") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let range = ByteRange(header: text) {
            for size in [0, 1, 1000, Int64.max] {
                guard let bytes = range.bytes(of: size) else { continue }
                precondition(!bytes.isEmpty && bytes.lowerBound >= 0 && bytes.upperBound <= size)
            }
        }
        let tags = EntityTags(header: text)
        precondition(!tags.contain("\"x\"", strongly: true) || tags.contain("\"x\"", strongly: false))
        if let parameters = HeaderParameters(text) { _ = (parameters["filename"], parameters["name"]) }
        precondition(StructuredField.count(text) ?? 0 >= 0)
        _ = (StructuredField.boolean(text), StructuredField.bytes(of: "sha-256", in: text))
        if let name = FileName.cleaned(text) {
            precondition(!name.isEmpty && !name.contains("/") && name != ".." && FileName.cleaned(name) == name)
        }
        _ = try? MultipartHead(lines: bytes)
    }

    /// Tokens: what is read as one is written so.
    static let tokens = FuzzTarget("tokens") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let (kind, id) = TokenFormat.parse(text) {
            precondition(text.hasPrefix(kind.rawValue + id) && text.utf8.count == kind.rawValue.utf8.count + 71)
        }
        // Of any secret a token can be made, which is read as what it is.
        let id = TokenFormat.base62(Array(bytes.prefix(16)), length: TokenFormat.idLength)
        for kind in TokenKind.allCases {
            let token = TokenFormat.compose(kind, id: id, secret: Array(bytes.dropFirst(16).prefix(32)))
            let parsed = TokenFormat.parse(token)
            precondition(parsed?.kind == kind && parsed?.id == id)
        }
    }
}
