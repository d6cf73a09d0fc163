import Foundation

extension Inputs {
    /// Frames of the films, which repeat.
    static let frames = [44, 52, 60, 72, 80, 96, 110, 125]

    /// What people make animations of.
    enum Loop: CaseIterable, Sendable {
        /// A camera that moves.
        case film
        /// Somebody types, scrolls and points.
        case screen
        /// Something that moves before a still camera.
        case stage
        /// A figure before nothing.
        case sticker
        /// Lines that move.
        case lines
        /// Areas of colour in which most moves.
        case chart

        /// Those of which ffmpeg makes films.
        static let filmed = [film, chart, stage]
    }

    /// GIFs of each kind by turns: films of 44 to 125 frames, 480 by 360 and 640 by 480 pixels, 12 to 25 frames a second,
    /// with one palette of their own and dithered; recordings of screens, line art and stickers as `drawings.py` draws
    /// them.
    ///
    /// - Parameter drawings: The script.
    func animations(_ count: Int, drawings: URL) throws -> Directory {
        try made("animations", count, named: "gif") { index, file, scratch in
            var random = SplitMix(seed: seed, "loop", index)
            let frames = Self.frames[index % Self.frames.count]
            let kind = Loop.allCases[index % Loop.allCases.count]
            func draw(_ name: String, _ width: Int, _ height: Int, frames: Int) throws {
                try Command(
                    "/usr/bin/python3",
                    [drawings.path(percentEncoded: false), name]
                        + [Int(seed % 1_000_000) + index, width, height, frames, 5 + index % 4].map(String.init)
                        + [file.path(percentEncoded: false)]
                ).run()
            }
            switch kind {
            case .screen: try draw("screen", 800, 600, frames: frames)
            case .lines: try draw("lines", 480, 480, frames: frames)
            // Chats want them small.
            case .sticker: try draw("sticker", 512, 512, frames: frames / 3)
            case .film, .stage, .chart:
                let (width, height) = index % 4 != 3 ? (480, 360) : (640, 480)
                try makeLoop(
                    kind, index, frames: frames, width: width, height: height, &random, file: file, scratch: scratch)
            }
        }
    }

    /// GIFs of 480 by 360 pixels that differ in the number of frames alone: a camera that moves.
    func loops(frames: Int, _ count: Int, group: Int) throws -> Directory {
        try made("loops-of-\(frames)-\(group)", count, named: "gif") { index, file, scratch in
            let number = group * 100 + index
            var random = SplitMix(seed: seed, "loop of frames", number)
            try makeLoop(
                .film, number * 3, frames: frames, width: 480, height: 360, &random, file: file, scratch: scratch)
        }
    }

    /// - Parameter kind: One of ``Loop/filmed``.
    func makeLoop(
        _ kind: Loop, _ index: Int, frames: Int, width: Int, height: Int, _ random: inout SplitMix, file: URL,
        scratch: URL
    ) throws {
        let rate = 12 + Int(random.next() % 14)
        let picture = scratch.appending(path: "\(UUID().uuidString).ppm")
        defer { try? FileManager.default.removeItem(at: picture) }
        let (dx, dy) = (random.between(1, 6), random.between(0.5, 3))
        let scene = ["-loop", "1", "-framerate", "\(rate)", "-i", picture.path(percentEncoded: false)]
        var input = scene
        let film: String
        switch kind {
        case .film:
            try Scene(width: width * 5 / 2, height: height * 5 / 2, seed: seed, "film", index).ppm.write(to: picture)
            let (w, h) = (width * 3 / 2, height * 3 / 2)
            film =
                "crop=\(w):\(h):x='mod(n*\(dx),\(width))':y='mod(n*\(dy),\(height))',scale=\(width):\(height)"
                + ",noise=alls=3:allf=t:all_seed=\(index)"
        case .chart:
            input = ["-f", "lavfi", "-i", "testsrc2=size=\(width)x\(height):rate=\(rate)"]
            film = "hue=h=\(Int(random.between(0, 360)))"
        default:
            try Scene(width: width, height: height, seed: seed, "stage", index).ppm.write(to: picture)
            // A piece of the picture itself goes to and fro over it.
            let (w, h) = (width / 4, height / 4)
            film =
                "split[stage][piece];[piece]crop=\(w):\(h):\(width / 2):\(height / 2),hue=h=120[piece];"
                + "[stage][piece]overlay=x='abs(mod(n*\(dx * 2),\(width))-\(w))':y='\(height / 3)+\(height / 5)*sin(n/9)'"
        }
        let dither = kind == .stage ? "bayer:bayer_scale=3:diff_mode=rectangle" : "sierra2_4a"
        try Command(
            "ffmpeg",
            ["-v", "error", "-y", "-bitexact"] + input + [
                "-frames:v", "\(frames)", "-filter_complex",
                "\(film),split[one][two];[one]trim=end_frame=\(frames),palettegen=stats_mode=full[palette];"
                    + "[two][palette]paletteuse=dither=\(dither)",
                "-f", "gif", file.path(percentEncoded: false),
            ]
        ).run()
    }
}
