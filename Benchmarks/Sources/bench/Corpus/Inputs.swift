import Foundation

/// Sources that differ from each other, so that neither a cache nor finding the same bytes again flatters anyone.
///
/// Made once by ffmpeg and kept: every file has a noise of its own, which also gives a photograph the bytes that a
/// camera's has (about 4 MB).
struct Inputs: Sendable {
    let directory: URL
    let seed: UInt64
    private let photograph: URL

    /// - Parameters:
    ///   - directory: Where they are kept.
    ///   - photograph: 4032 by 3024 pixels.
    ///   - seed: What the synthetic ones follow from.
    init(in directory: URL, from photograph: URL, seed: UInt64) throws {
        self.seed = seed
        self.directory = directory
        self.photograph = photograph
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    /// Photographs of 12 megapixels, alone in a directory.
    func photographs(_ count: Int) throws -> Directory {
        try make("photographs", count, filter: "scroll=h=0.037:v=0.011,noise=alls=10:allf=t", quality: 2)
    }

    /// Pictures of 64 by 64 pixels, alone in a directory.
    func tinyPictures(_ count: Int) throws -> Directory {
        let crop = "crop=64:64:x='mod(n*61,3900)':y='mod(n*37,2900)'"
        return try make("tiny", count, filter: "\(crop),noise=alls=10:allf=t", quality: 3)
    }

    /// Pictures of 400 by 300 pixels, about 20 kB, alone in a directory.
    func smallPictures(_ count: Int) throws -> Directory {
        let crop = "crop=1600:1200:x='mod(n*61,2400)':y='mod(n*37,1800)',scale=400:300"
        return try make("small", count, filter: "\(crop),noise=alls=4:allf=t", quality: 5)
    }

    /// 10 seconds of 3840 by 2160 pixels, H.264.
    func largeVideo() throws -> URL {
        try once("video-4k.mp4") { making in
            Command(
                "ffmpeg",
                [
                    "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=3840x2160:rate=30:duration=10", "-f",
                    "lavfi", "-i", "sine=duration=10", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
                    "-c:a", "aac", making,
                ])
        }
    }

    /// What takes long to make something of, each in another part of the codec.
    func costlySources() throws -> [URL] {
        let noise = try once("noise-24.v") {
            Command("vips", ["gaussnoise", $0, "6000", "4000", "--mean", "128", "--sigma", "20"])
        }.path(percentEncoded: false)
        let bytes = try once("noise-24-bytes.v") { Command("vips", ["cast", noise, $0, "uchar"]) }
            .path(percentEncoded: false)
        func video(_ name: String, _ source: String, _ coding: [String]) throws -> URL {
            try once(name) { Command("ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", source] + coding + [$0]) }
        }
        return [
            try once("progressive.jpg") { Command("vips", ["jpegsave", bytes, $0, "--interlace"]) },
            try once("interlaced.png") {
                Command("vips", ["pngsave", bytes, $0, "--interlace", "--compression", "1"])
            },
            try once("large.webp") { Command("vips", ["webpsave", bytes, $0, "--effort", "0"]) },
            try once("large.tiff") { Command("vips", ["tiffsave", bytes, $0, "--compression", "lzw"]) },
            try video("long.gif", "testsrc2=size=480x360:rate=20:duration=15", []),
            try video("short.gif", "testsrc2=size=320x240:rate=10:duration=3", []),
            try video(
                "hd.mp4", "testsrc2=size=1920x1080:rate=30:duration=10",
                ["-c:v", "mpeg4", "-q:v", "4", "-pix_fmt", "yuv420p"]),
            try video(
                "hevc-4k.mp4", "testsrc2=size=3840x2160:rate=30:duration=1",
                ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error", "-pix_fmt", "yuv420p"]),
            try video(
                "vp9.webm", "testsrc2=size=1280x720:rate=30:duration=5",
                ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p"]),
            try video("long.flac", "anoisesrc=seed=1:duration=600", []),
        ]
    }

    /// A file that a command makes when it isn't there yet.
    private func once(_ name: String, _ command: (_ path: String) -> Command) throws -> URL {
        let url = directory.appending(path: name)
        guard !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else { return url }
        let making = directory.appending(path: "making-\(name)")
        try command(making.path(percentEncoded: false)).run()
        try FileManager.default.moveItem(at: making, to: url)
        return url
    }

    /// Videos of a minute, 1280 by 720 pixels, H.264 with a keyframe in each second, AAC; alone in a directory.
    func clips(_ count: Int) throws -> Directory {
        try each("clips", count, named: "mp4") { index, output in
            [
                "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=60", "-f", "lavfi", "-i",
                "sine=frequency=\(300 + index * 50):sample_rate=44100:duration=60", "-vf", "hue=h=\(index * 40)",
                "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-g", "25", "-keyint_min", "25",
                "-sc_threshold",
                "0", "-x264-params", "open-gop=0", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "96k", output,
            ]
        }
    }

    /// Videos of a minute, 1280 by 720 pixels, H.264 of 4 Mbit/s with a keyframe in each second, AAC: parts of one film
    /// that begin a second apart, so that no two have the same bytes. 12 in each group.
    func films(group: Int) throws -> Directory {
        let film = try once("film.mp4") { making in
            Command(
                "ffmpeg",
                [
                    "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=84", "-f",
                    "lavfi", "-i", "anoisesrc=c=pink:r=44100:a=0.3:d=84:seed=\(seed % 1000)", "-vf",
                    "noise=alls=4:allf=t:all_seed=\(seed % 1000)", "-c:v", "libx264", "-preset", "veryfast", "-b:v",
                    "4M",
                    "-maxrate", "5M", "-bufsize", "8M", "-g", "25", "-keyint_min", "25", "-sc_threshold", "0",
                    "-x264-params", "open-gop=0", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "96k", making,
                ])
        }.path(percentEncoded: false)
        return try each("films-\(group)", Self.clipsInGroup, named: "mp4") { index, output in
            ["-ss", "\(group * Self.clipsInGroup + index)", "-t", "60", "-i", film, "-c", "copy", output]
        }
    }

    /// Recordings of three minutes, 44,100 Hz, stereo, 128 kbit/s where they are compressed; 12 in each group.
    ///
    /// - Parameter type: `m4a`, `mp3` or `wav`.
    func recordings(_ type: String, group: Int) throws -> Directory {
        let coding = ["m4a": ["aac", "-b:a", "128k"], "mp3": ["libmp3lame", "-b:a", "128k"]][type] ?? ["pcm_s16le"]
        return try each("recordings-\(type)-\(group)", Self.clipsInGroup, named: type) { index, output in
            let number = group * Self.clipsInGroup + index
            return [
                "-f", "lavfi", "-i", "anoisesrc=c=pink:r=44100:a=0.3:d=180:seed=\(seed % 1000 + UInt64(number))", "-ac",
                "2", "-c:a",
            ] + coding + [output]
        }
    }

    private static let clipsInGroup = 12

    /// Pictures as raw RGB, one after the other.
    func rawFrames(_ count: Int, width: Int, height: Int) throws -> URL {
        let url = directory.appending(path: "raw-\(count)-\(width)x\(height)")
        let path = url.path(percentEncoded: false)
        let whole = count * width * height * 3
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        guard size != whole else { return url }
        let crop = "crop=1600:1200:x='mod(n*61,2400)':y='mod(n*37,1800)',scale=\(width):\(height)"
        try Command(
            "ffmpeg",
            [
                "-v", "error", "-y", "-i", photograph.path(percentEncoded: false), "-vf",
                "loop=loop=\(count - 1):size=1,\(crop)", "-frames:v", "\(count)", "-f", "rawvideo", "-pix_fmt", "rgb24",
                path,
            ]
        ).run()
        return url
    }

    /// Files that ffmpeg makes one by one.
    private func each(
        _ name: String, _ count: Int, named fileExtension: String, _ arguments: (Int, String) -> [String]
    ) throws -> Directory {
        let place = directory.appending(path: "\(name)-\(count)", directoryHint: .isDirectory)
        let made = Directory(url: place)
        if try made.files.count == count { return made }
        try? FileManager.default.removeItem(at: place)
        let making = directory.appending(path: "\(name)-\(count).part", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: making)
        try FileManager.default.createDirectory(at: making, withIntermediateDirectories: true)
        for index in 0..<count {
            let output = making.appending(path: String(format: "%05d.", index) + fileExtension)
            try Command("ffmpeg", ["-v", "error", "-y"] + arguments(index, output.path(percentEncoded: false))).run()
        }
        try FileManager.default.moveItem(at: making, to: place)
        return made
    }

    private func make(_ name: String, _ count: Int, filter: String, quality: Int) throws -> Directory {
        let place = directory.appending(path: "\(name)-\(count)", directoryHint: .isDirectory)
        let made = Directory(url: place)
        if try made.files.count == count { return made }
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let arguments = [
            "-v", "error", "-y", "-i", photograph.path(percentEncoded: false),
            "-vf", "loop=loop=\(count - 1):size=1,\(filter)", "-frames:v", "\(count)",
            "-q:v", "\(quality)", "-pix_fmt", "yuvj420p",
            place.appending(path: "%05d.jpg").path(percentEncoded: false),
        ]
        try Command("ffmpeg", arguments).run()
        return made
    }

    /// Silence of `bytes` bytes in a WAV file; a file with a hole, so that it is quick to make.
    func recording(bytes: Int) throws -> URL {
        let url = directory.appending(path: "recording-\(bytes).wav")
        var header = Data("RIFF".utf8)
        func append(_ value: Int, bytes: Int) {
            header.append(contentsOf: (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
        }
        let rate = 48_000
        let channels = 2
        append(bytes - 8, bytes: 4)
        header.append(contentsOf: "WAVEfmt ".utf8)
        append(16, bytes: 4)
        // Linear PCM of 16 bits.
        append(1, bytes: 2)
        append(channels, bytes: 2)
        append(rate, bytes: 4)
        append(rate * channels * 2, bytes: 4)
        append(channels * 2, bytes: 2)
        append(16, bytes: 2)
        header.append(contentsOf: "data".utf8)
        append(bytes - header.count - 4, bytes: 4)
        try header.write(to: url)
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: UInt64(bytes))
        try file.close()
        return url
    }
}

/// Sources in a directory of their own.
struct Directory: Sendable {
    var url: URL

    var path: String { url.path(percentEncoded: false) }

    /// Paths, in order.
    var files: [String] {
        get throws {
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted().map { path + $0 }
        }
    }
}
