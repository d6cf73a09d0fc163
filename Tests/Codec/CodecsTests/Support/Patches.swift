import Foundation
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Red, green and blue light, or numbers that stand for it.
struct Triple: Hashable, Sendable {
    var red: Double
    var green: Double
    var blue: Double

    init(_ red: Double, _ green: Double, _ blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    func map(_ change: (Double) -> Double) -> Triple { Triple(change(red), change(green), change(blue)) }
    var all: [Double] { [red, green, blue] }
    var greatest: Double { max(red, green, blue) }

    /// The greatest difference of a channel.
    func distance(_ other: Triple) -> Double { zip(all, other.all).map { abs($0 - $1) }.max() ?? 0 }

    func applying(_ rows: [[Double]]) -> Triple {
        let sums = rows.map { row in zip(row, all).reduce(0) { $0 + $1.0 * $1.1 } }
        return Triple(sums[0], sums[1], sums[2])
    }
}

/// Even squares of colour, as a film, and what is seen of them.
///
/// The curves are those of SMPTE ST 2084, ITU-R BT.2100 and BT.1886, written down from the standards: no library that
/// Satchel uses has a part in what is expected.
enum Patches {
    static let side = 32

    /// A film of a few frames; `colours` are signals of 0…1.
    static func film(
        _ colours: [Triple], to output: URL, matrix: String, tags: [String], format: String, encoding: [String]
    ) throws {
        let width = colours.count * side
        var row = Data()
        for colour in colours {
            for _ in 0..<side {
                for value in colour.all {
                    let number = UInt16(max(0, min(65_535, (value * 65_535).rounded())))
                    row.append(UInt8(number & 255))
                    row.append(UInt8(number >> 8))
                }
            }
        }
        let raw = output.appendingPathExtension("rgb48")
        var picture = Data()
        for _ in 0..<side { picture += row }
        try (picture + picture + picture + picture).write(to: raw)
        let range = tags.contains("pc") ? "pc" : "tv"
        let conversion =
            matrix == "rgb"
            ? "format=\(format)"
            : "scale=out_color_matrix=\(matrix):out_range=\(range):flags=accurate_rnd+full_chroma_int,format=\(format)"
        // The encoder takes them from its options in FFmpeg 5.1, from the pictures in 7.1.
        let parameters = [
            "-color_primaries": "color_primaries", "-color_trc": "color_trc", "-colorspace": "colorspace",
            "-color_range": "range",
        ]
        let stated = zip(tags, tags.dropFirst()).compactMap { option, value in
            parameters[option].map { "setparams=\($0)=\(value)" }
        }
        try Tool.ffmpeg(
            [
                "-f", "rawvideo", "-pix_fmt", "rgb48le", "-s", "\(width)x\(side)", "-r", "10", "-i", raw.path, "-vf",
                ([conversion] + stated).joined(separator: ","),
            ] + encoding + tags, to: output)
    }

    /// The middles of the squares as an independent decoder gives them, 0…255.
    static func seen(_ url: URL, count: Int, turning: String = "null") throws -> [Triple] {
        let data = try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-i", url.path, "-frames:v", "1", "-vf",
                "\(turning),scale=\(count * side):\(side):flags=neighbor+accurate_rnd+full_chroma_int", "-pix_fmt",
                "rgb24", "-f", "rawvideo", "-",
            ])
        return (0..<count).map { index in
            let at = (side / 2 * count * side + index * side + side / 2) * 3
            return Triple(Double(data[at]), Double(data[at + 1]), Double(data[at + 2]))
        }
    }

    // MARK: Curves

    /// Nits to the signal of SMPTE ST 2084.
    static func pq(_ nits: Double) -> Double {
        let y = pow(max(0, nits) / 10_000, 2610.0 / 16_384)
        return pow((3424.0 / 4096 + 2413.0 / 128 * y) / (1 + 2392.0 / 128 * y), 2523.0 / 32)
    }

    /// Light of a screen of 1,000 nits to the signal of HLG: BT.2100's inverse system curve of 1.2, then its camera curve.
    static func hlg(_ nits: Triple) -> Triple {
        let screen = nits.map { max(0, $0) / 1000 }
        let luminance = 0.2627 * screen.red + 0.6780 * screen.green + 0.0593 * screen.blue
        let scene = luminance > 0 ? screen.map { $0 * pow(luminance, (1 - 1.2) / 1.2) } : screen
        let a = 0.17883277
        let b = 1 - 4 * a
        let c = 0.5 - a * log(4 * a)
        return scene.map { $0 <= 1 / 12.0 ? (3 * $0).squareRoot() : a * log(12 * $0 - b) + c }
    }

    /// Light of a screen to its signal: BT.1886, whose power all screens of the standard range have.
    static func screen(_ light: Double) -> Double { pow(max(0, light), 1 / 2.4) }

    /// BT.2087: BT.2020's primaries to BT.709's.
    static let narrowing = [
        [1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187],
    ]

    /// What a screen of the standard range is to show of `nits` in BT.2020's primaries, 0…255: 203 nits are white paper,
    /// and what is brighter than 30 % of it is pressed together by a hyperbola that ends at `peak`.
    static func mapped(_ nits: Triple, peak: Double = 1000) -> Triple {
        let light = nits.map { $0 / 203 }.applying(narrowing)
        let brightest = peak / 203
        let knee = 0.3
        let greatest = max(light.greatest, 1e-6)
        var scale = 1.0
        if greatest > knee {
            let a = -knee * knee * (brightest - 1) / (knee * knee - 2 * knee + brightest)
            let b = (knee * knee - 2 * knee * brightest + brightest) / max(brightest - 1, 1e-6)
            let pressed = (b * b + 2 * b * knee + knee * knee) / (b - a) * (greatest + a) / (greatest + b)
            scale = pressed / greatest
        }
        return light.map { min(255, screen($0 * scale) * 255) }
    }
}
