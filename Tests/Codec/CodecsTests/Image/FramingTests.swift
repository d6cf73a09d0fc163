import SatchelCore
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct FramingTests {
    @Test(arguments: [(4032, 3024, 1038, 779), (3024, 4032, 779, 1038), (20_000, 1, 1038, 1), (100, 50, 100, 50)])
    func `a picture is scaled into its box and never enlarged`(width: Int, height: Int, wide: Int, high: Int) {
        let framing = Framing(side: 1038, fit: .inside)
        #expect(
            framing.resultSize(of: PixelSize(width: width, height: height)) == PixelSize(width: wide, height: high))
    }
}
