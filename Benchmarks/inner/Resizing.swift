import SatchelCore
import ClipCodecs
import StillCodecs

/// The Lanczos scaling of a decoded still.
enum Resizing {
    static func piece() -> Piece {
        var generator = SeededGenerator(seed: 1)
        let pixels = generator.picture(width: 800, height: 600)
        let source = Raster(width: 800, height: 600, channels: 3, bytes: pixels)
        return Piece(name: "resize", repetitions: 3) {
            let scaled = try source.scaled(to: PixelSize(width: 320, height: 240))
            guard scaled.bytes.count == 320 * 240 * 3 else { complain("a picture has the wrong size") }
        }
    }
}
