import TestSupport
import Testing

@testable import GIF

/// What the encoder writes is what the decoder reads; the decoder is held to others by ``GIFFileTests``.
@Suite struct LZWTests {
    /// Noise, stripes, or long runs, in colours of `bits` bits.
    private static func indices(_ count: Int, bits: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let most = UInt8(truncatingIfNeeded: (1 << bits) - 1)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return (0..<count).map { _ in .random(in: 0...most, using: &random) }
        case 1:
            let period = Int.random(in: 1...97, using: &random)
            return (0..<count).map { UInt8(truncatingIfNeeded: $0 % period) & most }
        default:
            var value = UInt8(0)
            return (0..<count).map { _ in
                if Int.random(in: 0..<50, using: &random) == 0 { value = .random(in: 0...most, using: &random) }
                return value
            }
        }
    }

    @Test(arguments: 2...8)
    func `without loss every index comes back, within the bytes that are foretold`(bits: Int) {
        var random = SeededGenerator(seed: UInt64(bits))
        var encoder = LZWEncoder()
        var decoder = LZWDecoder()
        let identity = (0...255).map { UInt8($0) }
        for _ in 0..<12 {
            let (width, height) = (Int.random(in: 1...200, using: &random), Int.random(in: 1...120, using: &random))
            let area = Rectangle(left: 0, top: 0, width: width, height: height)
            let indices = Self.indices(width * height, bits: bits, &random)
            // Colours so far apart that none can take another's place.
            let colours = (0..<256).map { UInt32($0) | 0xFF00_0000 }
            var shown = indices.map { colours[Int($0)] }
            var held = indices
            encoder.encode(
                &held, shown: &shown,
                LZWEncoder.Source(
                    width: width, area: area, written: identity, colours: colours, indices: identity, codeSize: bits,
                    loss: 0, wanted: shown))
            #expect(encoder.count <= LZWEncoder.bound(pixels: width * height))
            #expect(held == indices)
            var decoded = [UInt8](repeating: 255, count: indices.count)
            var output = decoded.mutableSpan
            let data = Array(encoder.bytes[..<encoder.count])
            #expect(decoder.decode(data.span, codeSize: bits, into: &output) == .complete)
            #expect(decoded == indices)
        }
    }

    @Test func `data that ends early gives the pixels before its end, and any bytes at all end without harm`() {
        var random = SeededGenerator()
        var decoder = LZWDecoder()
        for _ in 0..<2_000 {
            let data = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            var decoded = [UInt8](repeating: 0, count: 500)
            var output = decoded.mutableSpan
            let size = Int.random(in: -1...13, using: &random)
            let outcome = decoder.decode(data.span, codeSize: size, into: &output)
            switch outcome {
            case .complete: #expect((1...11).contains(size))
            case .short(let pixels), .invalid(let pixels): #expect((0..<500).contains(pixels))
            }
            if !(1...11).contains(size) { #expect(outcome == .invalid(pixels: 0)) }
        }
    }
}
