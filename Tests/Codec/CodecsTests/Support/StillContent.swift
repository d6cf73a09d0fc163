import SatchelCore
import TestSupport

@testable import ClipCodecs
@testable import StillCodecs

/// What a still may show, worst first.
enum StillContent: String, CaseIterable {
    case noise, extreme, alphaNoise, text, lines, gradient, pixel, tall, wide

    var raster: Raster { Self.rasters[self] ?? drawn }

    private static let rasters = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.drawn) })

    private var drawn: Raster {
        switch self {
        case .noise: Self.noise(320, 240, channels: 3, isExtreme: false)
        case .extreme: Self.noise(320, 240, channels: 3, isExtreme: true)
        case .alphaNoise: Self.noise(320, 240, channels: 4, isExtreme: false)
        case .text: Self.writing
        case .lines:
            Self.drawn { x, y in (x + y) % 17 == 0 || (x &- 2 * y) % 23 == 0 ? (20, 20, 60) : (250, 250, 250) }
        case .gradient: Self.drawn { x, y in (UInt8(x * 255 / 640), UInt8(y * 255 / 480), UInt8((x + y) / 5)) }
        case .pixel: Self.noise(1, 1, channels: 4, isExtreme: false)
        case .tall: Self.noise(1, 20_000, channels: 3, isExtreme: false)
        case .wide: Self.noise(20_000, 1, channels: 3, isExtreme: false)
        }
    }

    /// Every value as likely as any other; or black and white, the strongest contrast.
    static func noise(_ width: Int, _ height: Int, channels: Int, isExtreme: Bool) -> Raster {
        var random = SeededGenerator(seed: UInt64(width * channels))
        let bytes = (0..<width * height * channels).map { _ in
            let value = UInt8(truncatingIfNeeded: random.next() >> 32)
            return isExtreme ? (value & 1 == 0 ? 0 : 255) : value
        }
        return Raster(width: width, height: height, channels: channels, bytes: bytes)
    }

    private static func drawn(_ colour: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8)) -> Raster {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(640 * 480 * 3)
        for y in 0..<480 {
            for x in 0..<640 {
                let (red, green, blue) = colour(x, y)
                bytes += [red, green, blue]
            }
        }
        return Raster(width: 640, height: 480, channels: 3, bytes: bytes)
    }

    /// A screen of writing: cells of 8 × 12 pixels with one of 40 shapes each, below a bar of colour.
    private static var writing: Raster {
        var random = SeededGenerator(seed: 7)
        let shapes = (0..<40).map { _ in (0..<96).map { _ in random.next() % 3 == 0 } }
        let cells = (0..<80 * 40).map { _ in Int(random.next() % 40) }
        return drawn { x, y in
            if y < 40 { return (30, 90, 200) }
            let isInk = shapes[cells[y / 12 * 80 + x / 8]][y % 12 * 8 + x % 8]
            return isInk && x % 8 < 6 && y % 12 < 9 ? (30, 30, 30) : (255, 255, 255)
        }
    }
}
