import TestSupport
import Testing

@testable import SatchelCore

@Suite struct PercentCodingTests {
    @Test func `any text comes back, and is ASCII without what means something in a URL while it is encoded`() {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x2FF, using: &random))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let encoded = PercentCoding.encode(text)
            #expect(encoded.utf8.allSatisfy { PercentCoding.isUnreserved($0) || $0 == UInt8(ascii: "%") })
            #expect(PercentCoding.decode(encoded).map { Array($0.utf8) } == Array(text.utf8))
            #expect(PercentCoding.decode(encoded, plusIsSpace: true).map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test func `digits are capital, what is kept stays, and a plus is a space in forms alone`() {
        #expect(PercentCoding.encode("a b/ü~") == "a%20b%2F%C3%BC~")
        #expect(
            PercentCoding.encode("a/b c") { $0 == UInt8(ascii: "/") || PercentCoding.isUnreserved($0) } == "a/b%20c")
        #expect(PercentCoding.decode("a+b%2fc") == "a+b/c")
        #expect(PercentCoding.decode("a+b%2Fc", plusIsSpace: true) == "a b/c")
    }

    @Test(arguments: ["%", "%4", "%zz", "%+4", "%C3", "a%FF"])
    func `what is broken, or no UTF-8, is nothing`(text: String) {
        #expect(PercentCoding.decode(text) == nil)
    }

    @Test func `bytes come back from their digits of either case, and nothing else does`() {
        let bytes = Array(UInt8.min ... .max)
        #expect([UInt8](hexadecimal: bytes.hexadecimal) == bytes)
        #expect([UInt8](hexadecimal: bytes.hexadecimal.uppercased()) == bytes)
        #expect([UInt8](hexadecimal: "") == [])
        for broken in ["a", "abc", "0g", "+1", "0x", "١١"] { #expect([UInt8](hexadecimal: broken) == nil, "\(broken)") }
    }
}
