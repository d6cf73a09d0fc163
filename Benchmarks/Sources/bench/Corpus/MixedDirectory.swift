import Foundation

extension Inputs {
    /// What a file of the mixed directory is.
    enum MixedKind: String, Sendable, CaseIterable {
        case jpeg, png, webp, gif, mp3, wav, aac, mp4
        /// Prose, bytes without sense, nothing at all, and photographs that end too early.
        case text, noise, empty, truncated

        /// Whether something can be made of it.
        var isMedia: Bool { ![.text, .noise, .empty, .truncated].contains(self) }

        /// Junk is called what people call their pictures.
        var fileExtension: String {
            switch self {
            case .jpeg, .truncated, .noise: "jpg"
            case .text: "txt"
            case .empty: "png"
            case .aac: "m4a"
            default: rawValue
            }
        }
    }

    /// By turns: eight photographs in twenty, two PNG, two WebP, a GIF, an MP3, a WAV, an AAC, two MP4 and two of junk.
    static func mixedKind(_ index: Int) -> MixedKind {
        switch index % 20 {
        case 0, 3, 5, 8, 10, 13, 15, 18: .jpeg
        case 1, 11: .png
        case 2, 12: .webp
        case 4: .gif
        case 6: .mp3
        case 7: .wav
        case 9: .aac
        case 14, 17: .mp4
        default: [.text, .truncated, .noise, .empty][index / 10 % 4]
        }
    }

    /// A directory as people have them: photographs of 1 to 3 megapixels, pictures, clips of 4 to 8 s, and junk.
    func mixed(_ count: Int) throws -> Directory {
        try made("mixed", count, named: { Self.mixedKind($0).fileExtension }) { index, file, scratch in
            var random = SplitMix(seed: seed, "mixed", index)
            let path = file.path(percentEncoded: false)
            func scene(_ width: Int) -> Scene {
                Scene(width: width, height: width * 3 / 4, seed: seed, "mixed scene", index)
            }
            func convert(_ scene: Scene, _ arguments: (_ source: String) -> Command) throws {
                let source = scratch.appending(path: "\(UUID().uuidString).ppm")
                defer { try? FileManager.default.removeItem(at: source) }
                try scene.ppm.write(to: source)
                try arguments(source.path(percentEncoded: false)).run()
            }
            let seconds = Int(random.between(4, 9))
            let sound = [
                "-f", "lavfi", "-i", "anoisesrc=color=pink:sample_rate=44100:duration=\(seconds):seed=\(index)",
            ]
            func ffmpeg(_ arguments: [String]) throws {
                try Command("ffmpeg", ["-v", "error", "-y", "-bitexact"] + arguments + [path]).run()
            }
            let kind = Self.mixedKind(index)
            switch kind {
            case .jpeg, .truncated:
                let width = Int(random.between(1200, 2000))
                try CameraJPEG.write(
                    scene(width), to: file, bytes: width * width / 4,
                    orientation: index % 4 == 3 ? .quarterTurn : .upright,
                    scratch: scratch)
                if kind == .truncated {
                    let data = try Data(contentsOf: file)
                    try data.prefix(data.count / 3).write(to: file)
                }
            case .png: try convert(scene(800)) { Command("vips", ["pngsave", $0, path]) }
            case .webp: try convert(scene(1000)) { Command("vips", ["webpsave", $0, path, "--Q", "80"]) }
            case .gif:
                try makeLoop(
                    Loop.filmed[index % Loop.filmed.count], index, frames: 30, width: 360, height: 270, &random,
                    file: file, scratch: scratch)
            case .mp3: try ffmpeg(sound + ["-c:a", "libmp3lame", "-b:a", "128k"])
            case .wav: try ffmpeg(sound + ["-c:a", "pcm_s16le"])
            case .aac: try ffmpeg(sound + ["-c:a", "aac", "-b:a", "96k"])
            case .mp4:
                try ffmpeg(
                    ["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=\(seconds)"] + sound + [
                        "-vf", "hue=h=\(index * 29 % 360)", "-c:v", "libx264", "-preset", "veryfast", "-threads", "1",
                        "-pix_fmt", "yuv420p", "-c:a", "aac",
                    ])
            case .text:
                try Data((0..<400).map { _ in UInt8(97 + random.next() % 26) }).write(to: file)
            case .noise:
                // No format begins so.
                try (Data([0x01, 0x02]) + Data((0..<50_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }))
                    .write(
                        to: file)
            case .empty: try Data().write(to: file)
            }
        }
    }
}
