import SatchelCore
import ClipCodecs
import StillCodecs

/// The Lanczos scaling of a decoded still.
enum Resizing {
    static func piece() -> Piece {
        var generator = SeededGenerator(seed: 1)
        let source = PixelSize(width: 800, height: 600)
        let pixels = generator.picture(width: source.width, height: source.height)
        return Piece(name: "resize", repetitions: 3) {
            let scaled = try RasterScaling.scaled(rgb: pixels, of: source, to: PixelSize(width: 320, height: 240))
            guard scaled.count == 320 * 240 * 3 else { complain("a picture has the wrong size") }
        }
    }
}
