import Foundation

/// Sources that differ from each other, so that neither a cache nor finding the same bytes again flatters anyone.
///
/// Made once by ffmpeg and kept: every file has a noise of its own, which also gives a photograph the bytes that a
/// camera's has (about 4 MB).
struct Inputs: Sendable {
    private let directory: URL
    private let photograph: URL

    /// - Parameters:
    ///   - directory: Where they are kept.
    ///   - photograph: 4032 by 3024 pixels.
    init(in directory: URL, from photograph: URL) throws {
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
        let url = directory.appending(path: "video-4k.mp4")
        guard !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else { return url }
        let making = directory.appending(path: "video-4k.part.mp4").path(percentEncoded: false)
        try Command(
            "ffmpeg",
            [
                "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=3840x2160:rate=30:duration=10", "-f", "lavfi",
                "-i", "sine=duration=10", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a",
                "aac",
                making,
            ]
        ).run()
        try FileManager.default.moveItem(at: URL(filePath: making), to: url)
        return url
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
