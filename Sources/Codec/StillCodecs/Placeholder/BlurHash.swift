import FoundationEssentials
import Glibc

/// BlurHash: a picture as the first terms of a cosine transform of its linear light, in 83 ASCII characters.
///
/// After the public description at blurha.sh (`Algorithm.md`).
package enum BlurHash {
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Encodes with `across` × `down` terms, 1…9 each; transparency is laid over white.
    package static func encode(_ raster: Raster, across: Int = 4, down: Int = 3) -> String {
        precondition((1...9).contains(across) && (1...9).contains(down))
        let factors = terms(of: raster, across: across, down: down)
        var hash: [UInt8] = []
        append(across - 1 + (down - 1) * 9, digits: 1, to: &hash)

        let average = factors[0]
        let rest = factors.dropFirst()
        let peak = rest.reduce(0.0) { max($0, abs($1.red), abs($1.green), abs($1.blue)) }
        let quantised = rest.isEmpty ? 0 : max(0, min(82, Int((peak * 166 - 0.5).rounded(.down))))
        let scale = rest.isEmpty ? 1 : Double(quantised + 1) / 166
        append(quantised, digits: 1, to: &hash)

        append(
            encoded(average.red) << 16 | encoded(average.green) << 8 | encoded(average.blue), digits: 4, to: &hash)
        for factor in rest {
            let value =
                (level(factor.red, scale) * 19 + level(factor.green, scale)) * 19 + level(factor.blue, scale)
            append(value, digits: 2, to: &hash)
        }
        return String(decoding: hash, as: UTF8.self)
    }

    private struct Term {
        var red = 0.0
        var green = 0.0
        var blue = 0.0
    }

    private static func terms(of raster: Raster, across: Int, down: Int) -> [Term] {
        let columns = (0..<across).map { term in cosines(term, raster.width) }
        let rows = (0..<down).map { term in cosines(term, raster.height) }
        var sums = [Term](repeating: Term(), count: across * down)
        for y in 0..<raster.height {
            // Each row is first summed by its columns' terms, then added to every row's term.
            var line = [Term](repeating: Term(), count: across)
            for x in 0..<raster.width {
                let pixel = raster.linear(x, y)
                for term in 0..<across {
                    let weight = columns[term][x]
                    line[term].red += weight * pixel.red
                    line[term].green += weight * pixel.green
                    line[term].blue += weight * pixel.blue
                }
            }
            for row in 0..<down {
                let weight = rows[row][y]
                for term in 0..<across {
                    sums[row * across + term].red += weight * line[term].red
                    sums[row * across + term].green += weight * line[term].green
                    sums[row * across + term].blue += weight * line[term].blue
                }
            }
        }
        let pixels = Double(raster.width * raster.height)
        return sums.enumerated().map { index, sum in
            let scale = (index == 0 ? 1 : 2) / pixels
            return Term(red: sum.red * scale, green: sum.green * scale, blue: sum.blue * scale)
        }
    }

    private static func cosines(_ term: Int, _ count: Int) -> [Double] {
        (0..<count).map { cos(Double.pi * Double(term) * Double($0) / Double(count)) }
    }

    /// A term as one of 19 levels.
    private static func level(_ value: Double, _ scale: Double) -> Int {
        let part = value / scale
        let root = part < 0 ? -(-part).squareRoot() : part.squareRoot()
        return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
    }

    /// Linear light as a byte of sRGB.
    private static func encoded(_ value: Double) -> Int {
        let clamped = max(0, min(1, value))
        let curve = clamped <= 0.003_130_8 ? clamped * 12.92 : 1.055 * pow(clamped, 1 / 2.4) - 0.055
        return Int(curve * 255 + 0.5)
    }

    private static func append(_ value: Int, digits count: Int, to hash: inout [UInt8]) {
        var divisor = 1
        for _ in 1..<max(count, 1) { divisor *= 83 }
        for _ in 0..<count {
            hash.append(digits[value / divisor % 83])
            divisor /= 83
        }
    }
}

extension Raster {
    /// Linear light of one pixel, 0…1 each, over white.
    fileprivate func linear(_ x: Int, _ y: Int) -> (red: Double, green: Double, blue: Double) {
        let at = (y * width + x) * channels
        let alpha = channels == 4 ? Double(bytes[at + 3]) / 255 : 1
        func light(_ channel: Int) -> Double {
            let byte = alpha * Double(bytes[at + channel]) + (1 - alpha) * 255
            return alpha == 1 ? Self.light[Int(bytes[at + channel])] : Self.light(of: byte / 255)
        }
        return (light(0), light(1), light(2))
    }

    private static let light: [Double] = (0...255).map { light(of: Double($0) / 255) }

    private static func light(of value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
