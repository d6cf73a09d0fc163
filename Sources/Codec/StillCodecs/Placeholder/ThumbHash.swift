import FoundationEssentials
import Glibc

/// ThumbHash: a picture's luminance, two chrominances and alpha as a few terms of a cosine transform, in about 25 bytes.
///
/// After the public description at evanw.github.io/thumbhash.
package enum ThumbHash {
    /// The hash in Base64. The picture is at most 100 pixels on each side.
    package static func encode(_ raster: Raster) -> String {
        Data(bytes(of: raster)).base64EncodedString()
    }

    /// The hash itself.
    static func bytes(of raster: Raster) -> [UInt8] {
        let width = raster.width
        let height = raster.height
        precondition(width <= 100 && height <= 100)
        let planes = Planes(raster)
        let longest = Double(max(width, height))
        let luminanceLimit = planes.hasAlpha ? 5.0 : 7.0
        let columns = max(1, Int((luminanceLimit * Double(width) / longest).rounded()))
        let rows = max(1, Int((luminanceLimit * Double(height) / longest).rounded()))

        let light = Channel(planes.light, width, height, max(3, columns), max(3, rows))
        let yellowBlue = Channel(planes.yellowBlue, width, height, 3, 3)
        let redGreen = Channel(planes.redGreen, width, height, 3, 3)
        let isLandscape = width > height
        let header24 =
            level(light.constant, 63) | level(0.5 + 0.5 * yellowBlue.constant, 63) << 6
            | level(0.5 + 0.5 * redGreen.constant, 63) << 12 | level(light.scale, 31) << 18
            | (planes.hasAlpha ? 1 << 23 : 0)
        let header16 =
            (isLandscape ? rows : columns) | level(yellowBlue.scale, 63) << 3 | level(redGreen.scale, 63) << 9
            | (isLandscape ? 1 << 15 : 0)
        var hash = [header24, header24 >> 8, header24 >> 16, header16, header16 >> 8].map { UInt8($0 & 255) }

        var varying = light.varying + yellowBlue.varying + redGreen.varying
        if planes.hasAlpha {
            let alpha = Channel(planes.alpha, width, height, 5, 5)
            hash.append(UInt8(level(alpha.constant, 15) | level(alpha.scale, 15) << 4))
            varying += alpha.varying
        }
        for (index, value) in varying.enumerated() {
            let nibble = UInt8(level(value, 15))
            if index.isMultiple(of: 2) {
                hash.append(nibble)
            } else {
                hash[hash.count - 1] |= nibble << 4
            }
        }
        return hash
    }

    /// A value of 0…1 as a whole number of 0…`top`.
    private static func level(_ value: Double, _ top: Double) -> Int {
        Int((max(0, min(1, value)) * top).rounded())
    }

    /// Luminance, yellow against blue, red against green, and alpha, over the picture's average colour.
    private struct Planes {
        var light: [Double] = []
        var yellowBlue: [Double] = []
        var redGreen: [Double] = []
        var alpha: [Double] = []
        var hasAlpha = false

        init(_ raster: Raster) {
            let count = raster.width * raster.height
            var sums = (red: 0.0, green: 0.0, blue: 0.0, alpha: 0.0)
            for pixel in 0..<count {
                let (red, green, blue, alpha) = Self.pixel(raster, pixel)
                sums.red += alpha * red
                sums.green += alpha * green
                sums.blue += alpha * blue
                sums.alpha += alpha
            }
            if sums.alpha > 0 {
                sums.red /= sums.alpha
                sums.green /= sums.alpha
                sums.blue /= sums.alpha
            }
            hasAlpha = sums.alpha < Double(count)
            for pixel in 0..<count {
                let (plainRed, plainGreen, plainBlue, alpha) = Self.pixel(raster, pixel)
                let red = sums.red * (1 - alpha) + alpha * plainRed
                let green = sums.green * (1 - alpha) + alpha * plainGreen
                let blue = sums.blue * (1 - alpha) + alpha * plainBlue
                light.append((red + green + blue) / 3)
                yellowBlue.append((red + green) / 2 - blue)
                redGreen.append(red - green)
                self.alpha.append(alpha)
            }
        }

        private static func pixel(_ raster: Raster, _ index: Int) -> (Double, Double, Double, Double) {
            let at = index * raster.channels
            func part(_ channel: Int) -> Double { Double(raster.bytes[at + channel]) / 255 }
            return (part(0), part(1), part(2), raster.channels == 4 ? part(3) : 1)
        }
    }

    /// The cosine transform of one plane: the constant term, and the others scaled to 0…1.
    private struct Channel {
        var constant = 0.0
        var varying: [Double] = []
        var scale = 0.0

        init(_ plane: [Double], _ width: Int, _ height: Int, _ columns: Int, _ rows: Int) {
            // What each line comes to under a column's wave is the same for all rows of terms.
            let lines = (0..<columns).map { column in
                let across = Self.cosines(column, width)
                return (0..<height).map { y in
                    var line = 0.0
                    for x in 0..<width { line += plane[y * width + x] * across[x] }
                    return line
                }
            }
            for row in 0..<rows {
                let down = Self.cosines(row, height)
                // The triangle of low frequencies.
                var column = 0
                while column * rows < columns * (rows - row) {
                    let term = zip(lines[column], down).reduce(0) { $0 + $1.0 * $1.1 } / Double(width * height)
                    if column == 0 && row == 0 {
                        constant = term
                    } else {
                        varying.append(term)
                        scale = max(scale, abs(term))
                    }
                    column += 1
                }
            }
            if scale > 0 {
                varying = varying.map { 0.5 + 0.5 / scale * $0 }
            }
        }

        private static func cosines(_ term: Int, _ count: Int) -> [Double] {
            (0..<count).map { cos(Double.pi / Double(count) * Double(term) * (Double($0) + 0.5)) }
        }
    }
}
