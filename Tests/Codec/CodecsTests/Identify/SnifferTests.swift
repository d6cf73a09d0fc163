import Foundation
import TestSupport
import Testing

@testable import StillCodecs

@Suite struct SnifferTests {
    private static let texts: [[UInt8]] = [
        Array("a text".utf8), Array("Grüße".utf8), [0xff, 0xfe, 0x61, 0], [0xfe, 0xff, 0, 0x61],
        [0, 0, 0xfe, 0xff, 0, 0, 0, 0x61],
        [0xe9, 0x74, 0xe9],
    ]

    @Test(arguments: texts)
    func `what may be text is looked at for its encoding`(head: [UInt8]) throws {
        try Sniffer.prepare()
        #expect(Sniffer.mayBeText(head))
        #expect(Sniffer.type(of: head, asText: true) == "text/plain")
    }

    @Test(arguments: try MediaManifest.load().files)
    func `libmagic says the same of what is no text where it doesn't look for an encoding`(sample: MediaSample) throws {
        try Sniffer.prepare()
        var head = Array(try Data(contentsOf: sample.url).prefix(Sniffer.headBytes))
        // Also of what comes behind other beginnings, and of what ends with zeros.
        for count in [0, 1, 4, 16, 300] {
            head = Array(head.dropFirst(count))
            for bytes in [head, Array(head.prefix(200)), head + [UInt8](repeating: 0, count: 600)]
            where !Sniffer.mayBeText(bytes) {
                #expect(Sniffer.type(of: bytes, asText: false) == Sniffer.type(of: bytes, asText: true))
            }
        }
    }
}
