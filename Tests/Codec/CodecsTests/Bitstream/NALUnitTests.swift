import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct NALUnitTests {
    @Test func `supplements are dropped, and all else keeps its bytes`() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            var packet: [UInt8] = []
            var expected: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let type = [1, 5, 6, 7, 8, 9, 12, 24].randomElement(using: &generator) ?? 1
                // No start code can be in it.
                let unit =
                    [UInt8(type)]
                    + (0..<Int.random(in: 1...40, using: &generator)).map { _ in UInt8.random(in: 1...255) }
                let framed: [UInt8] = [0, 0, 0, UInt8(unit.count)] + unit
                packet += framed
                if type == 1 || type == 5 { expected += framed }
            }
            let kept = unsafe packet.withUnsafeMutableBufferPointer {
                unsafe NALUnits.dropSupplements(in: $0, framing: .lengths(4))
            }
            #expect(kept == expected.count)
            #expect(Array(packet.prefix(kept ?? 0)) == expected)
        }
    }

    @Test func `start codes of three and four bytes are kept with their units`() {
        var packet: [UInt8] = [0, 0, 0, 1, 6, 9, 9, 0, 0, 1, 5, 1, 2, 0, 0, 0, 1, 6, 8, 0, 0, 0, 1, 1, 4]
        let kept = unsafe packet.withUnsafeMutableBufferPointer {
            unsafe NALUnits.dropSupplements(in: $0, framing: .startCodes)
        }
        #expect(Array(packet.prefix(kept ?? 0)) == [0, 0, 1, 5, 1, 2, 0, 0, 0, 1, 1, 4])
    }

    @Test func `any bytes at all are looked at without harm`() {
        var generator = SeededGenerator()
        for _ in 0..<3000 {
            var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...3, using: &generator)
            }
            for framing in [NALUnits.Framing.lengths(1), .lengths(2), .lengths(4), .startCodes] {
                let kept = unsafe bytes.withUnsafeMutableBufferPointer {
                    unsafe NALUnits.dropSupplements(in: $0, framing: framing)
                }
                #expect((kept ?? 0) <= bytes.count)
            }
        }
    }
}
