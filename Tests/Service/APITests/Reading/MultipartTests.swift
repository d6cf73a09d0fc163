import Foundation
import NIOCore
import TestSupport
import Testing

@testable import API

/// Multipart bodies, taken apart piece by piece.
@Suite struct MultipartTests {
    /// What a whole body came to: every part with its bytes.
    private struct Part: Equatable {
        var head: MultipartHead
        var bytes: [UInt8]
        var isWhole: Bool
    }

    /// Feeds a body in the given pieces.
    private func parts(_ body: [UInt8], boundary: String = "B", cuts: [Int] = []) throws -> [Part] {
        var parser = try MultipartParser(boundary: boundary)
        var parts: [Part] = []
        var start = 0
        for end in cuts.sorted() + [body.count] where end >= start {
            for event in try parser.feed(ByteBuffer(bytes: body[start..<end])) {
                switch event {
                case .begin(let head): parts.append(Part(head: head, bytes: [], isWhole: false))
                case .bytes(let bytes): parts[parts.count - 1].bytes += Array(bytes.readableBytesView)
                case .end: parts[parts.count - 1].isWhole = true
                }
            }
            start = end
        }
        try parser.finish()
        return parts
    }

    private func reason(_ text: String, boundary: String = "B") -> String? {
        do {
            _ = try parts(Array(text.utf8), boundary: boundary)
            return nil
        } catch let error as MultipartError {
            return error.reason
        } catch {
            return "\(error)"
        }
    }

    private static let body = Array(
        """
        a preamble\r
        --B \t\r
        Content-Disposition: form-data; name="job"\r
        Content-Type: application/json\r
        \r
        {}\r
        --B\r
        content-disposition: form-data; name=photo; filename="a \\"b\\".jpg"; filename*=UTF-8''caf%C3%A9.jpg\r
        Content-Type: IMAGE/JPEG; q=1\r
        \r
        \r
        -\r
        --\r
        --A\r\r
        --B\r
        Content-Disposition: form-data; name="empty"; filename="C:\\files\\x.gif"\r
        \r
        \r
        --B--\r
        an epilogue
        """.utf8)

    private static let expected: [(String, String?, String?, String)] = [
        ("job", nil, "application/json", "{}"), ("photo", "café.jpg", "image/jpeg", "\r\n-\r\n--\r\n--A\r"),
        ("empty", "C:\\files\\x.gif", nil, ""),
    ]

    private func check(_ parts: [Part]) {
        #expect(parts.map(\.head.name) == Self.expected.map(\.0))
        #expect(parts.map(\.head.fileName) == Self.expected.map(\.1))
        #expect(parts.map(\.head.contentType) == Self.expected.map(\.2))
        #expect(parts.map { String(decoding: $0.bytes, as: UTF8.self) } == Self.expected.map(\.3))
        #expect(parts.allSatisfy { $0.isWhole })
    }

    @Test func `a body has its parts, with their names, types and bytes`() throws {
        check(try parts(Self.body))
    }

    @Test func `any split into two pieces, and single bytes, give the same parts`() throws {
        let whole = try parts(Self.body)
        for cut in 0...Self.body.count {
            #expect(try parts(Self.body, cuts: [cut]) == whole, "cut at \(cut)")
        }
        #expect(try parts(Self.body, cuts: Array(0...Self.body.count)) == whole)
    }

    @Test func `any split of random bytes gives them back`() throws {
        var random = SeededGenerator()
        // Many that look like the start of a boundary.
        let alphabet = Array("\r\n--Bx".utf8)
        for _ in 0..<300 {
            let content = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            guard !String(decoding: content, as: UTF8.self).utf8.contains("\r\n--B".utf8) else { continue }
            let body =
                Array("--B\r\nContent-Disposition: form-data; name=x\r\n\r\n".utf8) + content + Array("\r\n--B--".utf8)
            let cuts = (0..<5).map { _ in Int.random(in: 0...body.count, using: &random) }
            let found = try parts(body, cuts: cuts)
            #expect(found.count == 1 && found.first?.bytes == content)
        }
    }

    @Test(arguments: [
        ("", "the boundary does not occur in the body"),
        ("--C\r\n", "the boundary does not occur in the body"),
        ("--B\r\nContent-Disposition: form-data; name=x\r\n\r\nbytes", "the body ends before its last boundary"),
        ("--B\r\nContent-Disposition: form-data; name=x\r\n\r\nbytes\r\n--B", "the body ends before its last boundary"),
        ("--B\r\nContent-Disposition: form", "the body ends before its last boundary"),
        ("--Bx\r\n", "a boundary is not at the end of its line"),
        ("--B\r\n\r\nbytes\r\n--B--", "a part lacks its 'Content-Disposition: form-data'"),
        (
            "--B\r\nContent-Disposition: attachment; name=x\r\n\r\n\r\n--B--",
            "a part lacks its 'Content-Disposition: form-data'"
        ),
        ("--B\r\nContent-Disposition: form-data\r\n\r\n\r\n--B--", "a part has no name"),
        (
            "--B\r\nContent-Disposition: form-data; name=\"x\r\n\r\n\r\n--B--",
            "the Content-Disposition of a part can't be read"
        ),
        (
            "--B\r\nContent-Disposition: form-data; name=x; name=y\r\n\r\n\r\n--B--",
            "the Content-Disposition of a part can't be read"
        ),
        ("--B\r\nno colon\r\n\r\n\r\n--B--", "a part has a header without a name"),
    ])
    func `what is no multipart body is refused with its reason`(text: String, expected: String) {
        #expect(reason(text) == expected)
    }

    @Test func `bodies that want too much are refused`() {
        let head = "Content-Disposition: form-data; name=x"
        let parts = String(repeating: "--B\r\n\(head)\r\n\r\n\r\n", count: 17)
        #expect(reason(parts + "--B--") == "it has more than 16 parts")
        let long = "--B\r\nX: \(String(repeating: "x", count: 9000))\r\n\r\n"
        #expect(reason(long) == "the headers of a part have more than 8192 bytes")
        let many = "--B\r\n" + String(repeating: "X: y\r\n", count: 20) + "\(head)\r\n\r\n\r\n--B--"
        #expect(reason(many) == "a part has more than 16 headers")
        #expect(reason(String(repeating: "x", count: 70_000))?.hasPrefix("it has more than 65536 bytes") == true)
        #expect(reason("--B--" + String(repeating: "x", count: 70_000))?.hasPrefix("it has more than") == true)
        #expect(reason("", boundary: String(repeating: "b", count: 71)) != nil)
        #expect(reason("", boundary: "") != nil)
    }

    @Test func `no mutation of a body traps`() {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            var body = Self.body
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: body[place] = UInt8.random(in: 0...255, using: &random)
                case 1: body.remove(at: place)
                default: body.insert(contentsOf: body[place..<min(body.count, place + 9)], at: place)
                }
            }
            let cuts = (0..<3).map { _ in Int.random(in: 0...body.count, using: &random) }
            if let parts = try? parts(body, cuts: cuts) { #expect(parts.allSatisfy { $0.isWhole }) }
        }
    }
}

extension Collection where Element: Equatable {
    fileprivate func contains(_ other: some Collection<Element>) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}
