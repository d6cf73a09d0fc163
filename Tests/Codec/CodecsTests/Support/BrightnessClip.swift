import Foundation

/// Clips of 64×48 pictures at 25 a second whose brightness counts them, frame n with luma 16 + 5 × (n mod 40), and a tone.
enum BrightnessClip {
    static func make(_ output: URL, seconds: Double, _ encoding: [String]) throws -> URL {
        try Tool.ffmpeg(input(seconds) + ["-pix_fmt", "yuv420p"] + encoding, to: output)
        return output
    }

    /// Makes by one call what tests then ask for one by one, as ``Tool/prepare(_:_:)`` does.
    static func prepare(seconds: Double, _ clips: [(encoding: [String], name: String)]) throws {
        try Tool.prepare(input(seconds), clips.map { (["-pix_fmt", "yuv420p"] + $0.encoding, $0.name) })
    }

    private static func input(_ seconds: Double) -> [String] {
        [
            "-f", "lavfi", "-i",
            "color=c=black:size=64x48:rate=25:duration=\(seconds),geq=lum='16+5*mod(N,40)':cb=128:cr=128",
            "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=\(seconds)",
        ]
    }

    /// The counts of all pictures that an independent decoder shows.
    static func counts(of url: URL) throws -> [Int] {
        let raw = try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-i", url.path, "-map", "0:v", "-vsync", "passthrough", "-vf",
                "crop=2:2:0:0,extractplanes=y", "-f", "rawvideo", "-",
            ])
        return stride(from: 0, to: raw.count, by: 4).map { Int(((Double(raw[$0]) - 16) / 5).rounded()) }
    }
}
