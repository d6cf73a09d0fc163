import Foundation

/// Sources of one kind that are each twice as large as the one before.
struct GrowingSources: Sendable {
    /// For programs.
    let name: String
    let title: String
    /// What they have more of each time.
    let unit: Unit
    let sizes: [Int]
    /// How many of each size there are, no two alike: of what costs little, several.
    var count = 1
    private let fileExtension: String
    private let make: @Sendable (_ size: Int, _ file: URL, _ scratch: URL, _ seed: UInt64) throws -> Void

    enum Unit: String, CaseIterable {
        case pixels, frames, seconds
    }

    /// - Parameter isFull: Up to 640 frames and ten minutes, else to a quarter of that.
    static func all(isFull: Bool) -> [GrowingSources] {
        let megapixels = [750_000, 1_500_000, 3_000_000, 6_000_000, 12_000_000, 24_000_000, 48_000_000]
        let frames = [20, 40, 80, 160] + (isFull ? [320, 640] : [])
        let seconds = [10, 20, 40, 80, 150] + (isFull ? [300, 600] : [])
        return [
            GrowingSources(
                name: "jpeg", title: "a JPEG", unit: .pixels, sizes: megapixels, fileExtension: "jpg"
            ) { pixels, file, scratch, seed in
                try withScene(pixels, scratch, seed) { scene in
                    try run("cjpeg", ["-quality", "88", "-sample", "2x2", "-outfile", file.path, scene])
                }
            },
            GrowingSources(
                // A drawing, as a scene of 48 megapixels has more bytes than an image may have.
                name: "png", title: "a PNG", unit: .pixels, sizes: megapixels, fileExtension: "png"
            ) { pixels, file, _, _ in
                let size = Self.size(pixels)
                try film("testsrc2=size=\(size.width)x\(size.height)", ["-frames:v", "1", "-pix_fmt", "rgb24"], file)
            },
            GrowingSources(
                name: "gif", title: "a GIF of 320 × 240", unit: .frames, sizes: frames, count: 4, fileExtension: "gif"
            ) { frames, file, _, seed in
                try film("testsrc2=size=320x240:rate=20,hue=h=\(seed % 360)", ["-frames:v", "\(frames)"], file)
            },
            GrowingSources(
                name: "wav", title: "a WAV, encoded", unit: .seconds, sizes: seconds, count: 4, fileExtension: "wav"
            ) { seconds, file, _, seed in
                try film("anoisesrc=color=pink:amplitude=0.3:seed=\(seed % 1000)", ["-t", "\(seconds)"], file)
            },
            GrowingSources(
                name: "mp4", title: "an MP4 of 640 × 360, copied", unit: .seconds, sizes: seconds, count: 4,
                fileExtension: "mp4"
            ) { seconds, file, _, seed in
                try film(
                    "testsrc2=size=640x360:rate=25,hue=h=\(seed % 360)",
                    ["-t", "\(seconds)", "-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-pix_fmt", "yuv420p"],
                    file)
            },
            GrowingSources(
                name: "mpeg4", title: "an MPEG-4 video of 320 × 240, encoded", unit: .seconds, sizes: seconds,
                fileExtension: "avi"
            ) { seconds, file, _, _ in
                try film(
                    "testsrc2=size=320x240:rate=25", ["-t", "\(seconds)", "-c:v", "mpeg4", "-q:v", "5"], file)
            },
        ]
    }

    /// The sources of one size, alone in a directory.
    func sources(_ size: Int, of inputs: Inputs) throws -> Directory {
        let (make, seed) = (make, inputs.seed)
        return try inputs.made("growing-\(name)-\(size)", count, named: fileExtension) { index, file, scratch in
            try make(size, file, scratch, seed &+ UInt64(index) * 61)
        }
    }

    /// Of 4:3, with so many pixels.
    private static func size(_ pixels: Int) -> (width: Int, height: Int) {
        let height = Int((Double(pixels) * 0.75).squareRoot()) / 2 * 2
        return (height * 2 / 3 * 2, height)
    }

    /// A scene with so many pixels.
    private static func withScene(
        _ pixels: Int, _ scratch: URL, _ seed: UInt64, _ body: (String) throws -> Void
    ) throws {
        let size = size(pixels)
        let scene = Scene(width: size.width, height: size.height, seed: seed, "growing", pixels)
        let file = scratch.appending(path: "scene.ppm")
        try scene.ppm.write(to: file)
        try body(file.path(percentEncoded: false))
        try FileManager.default.removeItem(at: file)
    }

    private static func film(_ source: String, _ arguments: [String], _ file: URL) throws {
        try run("ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", source] + arguments + [file.path])
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        try Command(program, arguments).run()
    }
}

extension URL {
    fileprivate var path: String { path(percentEncoded: false) }
}
