import FoundationEssentials
import Glibc

/// A picture of a few pixels in place of one that isn't there yet, as a `data:` URL: it needs no script and no request.
struct PlaceholderPicture: Sendable {
    private let width: Int
    private let height: Int
    /// Blue, green, red, from the lowest row up, as a bitmap has them.
    private var pixels: [UInt8] = []

    /// Of one colour, as `#6a5d4f`.
    init?(color: String) {
        guard color.utf8.count == 7, color.hasPrefix("#"), let number = Int(color.dropFirst(), radix: 16) else {
            return nil
        }
        (width, height) = (1, 1)
        pixels = [UInt8(number & 255), UInt8(number >> 8 & 255), UInt8(number >> 16 & 255)]
    }

    /// Of a ThumbHash in base64 (https://evanw.github.io/thumbhash/), without its transparency.
    init?(thumbHash: String) {
        guard let data = Data(base64Encoded: thumbHash), data.count >= 5 else { return nil }
        let hash = Array(data).map(Int.init)
        let (first, second) = (hash[0] | hash[1] << 8 | hash[2] << 16, hash[3] | hash[4] << 8)
        let hasAlpha = first >> 23 != 0
        let isLandscape = second >> 15 != 0
        let long = hasAlpha ? 5 : 7
        let (across, down) = (isLandscape ? long : second & 7, isLandscape ? second & 7 : long)
        guard across > 0, down > 0 else { return nil }
        (width, height) = across >= down ? (16, max(16 * down / across, 1)) : (max(16 * across / down, 1), 16)

        var reader = Factors(hash: hash, next: (hasAlpha ? 6 : 5) * 2)
        let lightness = Channel(
            mean: Double(first & 63) / 63, scale: Double(first >> 18 & 31) / 31, max(across, 3), max(down, 3), &reader)
        let yellow = Channel(
            mean: Double(first >> 6 & 63) / 31.5 - 1, scale: Double(second >> 3 & 63) / 63 * 1.25, 3, 3, &reader)
        let red = Channel(
            mean: Double(first >> 12 & 63) / 31.5 - 1, scale: Double(second >> 9 & 63) / 63 * 1.25, 3, 3, &reader)
        for row in (0..<height).reversed() {
            for column in 0..<width {
                let place = ((Double(column) + 0.5) / Double(width), (Double(row) + 0.5) / Double(height))
                let (light, yellow, red) = (lightness.value(place), yellow.value(place), red.value(place))
                let blue = light - 2 / 3 * yellow
                let reddish = (3 * light - blue + red) / 2
                for value in [blue, reddish - red, reddish] {
                    pixels.append(UInt8((min(max(value, 0), 1) * 255).rounded()))
                }
            }
        }
    }

    /// Four bits each, the lower ones first.
    private struct Factors {
        let hash: [Int]
        var next: Int

        mutating func factor() -> Double {
            defer { next += 1 }
            guard next / 2 < hash.count else { return 0 }
            return Double(hash[next / 2] >> (next % 2 * 4) & 15) / 7.5 - 1
        }
    }

    /// A mean and cosines of rising frequencies.
    private struct Channel {
        let mean: Double
        var cosines: [(across: Double, down: Double, factor: Double)] = []

        init(mean: Double, scale: Double, _ columns: Int, _ rows: Int, _ factors: inout Factors) {
            self.mean = mean
            for row in 0..<rows {
                var column = row == 0 ? 1 : 0
                while column * rows < columns * (rows - row) {
                    cosines.append((Double(column), Double(row), factors.factor() * scale))
                    column += 1
                }
            }
        }

        func value(_ place: (x: Double, y: Double)) -> Double {
            var value = mean
            for cosine in cosines {
                let across: Double = cos(Double.pi * place.x * cosine.across)
                let down: Double = cos(Double.pi * place.y * cosine.down)
                value += 2 * cosine.factor * across * down
            }
            return value
        }
    }

    /// A bitmap, which needs no compression.
    var dataURL: String {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> ($0 * 8) & 255) } }
        let padding = (4 - width * 3 % 4) % 4
        let size = (width * 3 + padding) * height
        var file = Array("BM".utf8) + bytes(54 + size, 4) + bytes(0, 4) + bytes(54, 4)
        file += bytes(40, 4) + bytes(width, 4) + bytes(height, 4) + bytes(1, 2) + bytes(24, 2) + bytes(0, 4)
        file += bytes(size, 4) + bytes(2835, 4) + bytes(2835, 4) + bytes(0, 8)
        for row in 0..<height {
            file += pixels[row * width * 3..<(row + 1) * width * 3] + bytes(0, padding)
        }
        return "data:image/bmp;base64,\(Data(file).base64EncodedString())"
    }
}
