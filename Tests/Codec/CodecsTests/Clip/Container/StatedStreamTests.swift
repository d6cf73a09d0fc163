import SatchelCore
import CFFmpeg
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What an MP4's header says of its streams, beside what decoders find.
@Suite struct StatedStreamTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// What is known of a clip, or why it is refused.
    private static func facts(_ url: URL, believesHeader: Bool) throws -> String {
        let sniffed = try Clips.sniff(url)
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        return try withDescriptor(url) { descriptor in
            do throws(AttachmentError) {
                guard
                    let probed = try ProbedClip.open(
                        descriptor, sniffed: sniffed, limits: .service, believesHeader: believesHeader)
                else { return "no clip" }
                // The members of a set come in any order.
                return "\(probed.facts)".split { " ,[]".contains($0) }.sorted().joined(separator: " ")
            } catch {
                return "\(error)"
            }
        }
    }

    /// Whether the header tells enough.
    private static func suffices(_ url: URL, format: String = "mov") throws -> Bool {
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        return try withDescriptor(url) { descriptor in
            let demuxer = try Demuxer.open(descriptor, bytes: fileBytes(descriptor), formats: [format])
            return try demuxer?.believeHeader() ?? false
        }
    }

    @Test(
        arguments: try MediaManifest.load().files.filter { sample in
            ["mp4", "mov", "m4v", "m4a", "3gp", "wav"].contains { sample.path.hasSuffix($0) }
                // Decoders are asked about the first seconds alone, in which this one has no picture.
                && !sample.traits.contains("late pictures")
        })
    func `a sample is the same clip whether its header is believed or decoders are asked`(sample: MediaSample) throws {
        let stated = try Self.facts(sample.url, believesHeader: true)
        let found = try Self.facts(sample.url, believesHeader: false)
        let different = Set(stated.split(separator: " ")).symmetricDifference(found.split(separator: " "))
        #expect(stated == found, "\(different.sorted())")
    }

    private static let encodings: [(name: String, audio: [String], picture: [String])] = [
        ("plain.mp4", ["aac"], ["-bf", "0"]),
        ("reordered.mov", ["aac", "-ac", "2"], ["-bf", "3", "-b_strategy", "0"]),
        ("baseline.mp4", ["aac", "-ar", "22050"], ["-profile:v", "baseline"]),
        ("full-range.mp4", ["aac"], ["-vf", "scale=out_range=pc", "-color_range", "pc", "-pix_fmt", "yuvj420p"]),
        (
            "tagged.mov", ["aac"],
            ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv"]
        ),
        ("cut-off.mp4", ["aac"], ["-vf", "scale=322:182,setsar=1"]),
        ("turned.mov", ["aac"], []),
        ("late.mp4", ["aac"], ["-output_ts_offset", "1.5"]),
        ("variable.mp4", ["aac"], ["-vf", "select='not(eq(mod(n,5),3))'", "-vsync", "vfr"]),
    ]

    @Test(arguments: encodings)
    func `of H.264 and AAC the header suffices, and says what decoders say`(
        name: String, audio: [String], picture: [String]
    ) throws {
        let source = file(name)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2", "-f", "lavfi", "-i", "sine=duration=2",
                "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a",
            ] + audio + picture, to: source)
        if name.hasPrefix("turned") { try Clips.turn(source, clockwise: 90) }
        #expect(try Self.suffices(source))
        #expect(try Self.facts(source, believesHeader: true) == Self.facts(source, believesHeader: false))
    }

    @Test(arguments: [
        ("high-depth.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv420p10le"]),
        ("interlaced.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-flags", "+ildct+ilme"]),
        ("wide-pixels.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-vf", "setsar=4/3"]),
        ("other.mp4", ["-c:v", "mpeg4", "-pix_fmt", "yuv420p"]),
    ])
    func `of anything else decoders are asked`(name: String, encoding: [String]) throws {
        let source = file(name)
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=1"] + encoding, to: source)
        #expect(try !Self.suffices(source))
    }

    @Test func `a header that says another size than its pictures have is not believed`() throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=1", "-c:v", "libx264", "-pix_fmt",
                "yuv420p",
            ], to: source)
        var data = try Data(contentsOf: source)
        // The size in the sample's description, behind 24 bytes of the entry.
        let entry = try #require(
            data.range(of: Data("avc1".utf8), in: data.range(of: Data("stsd".utf8))!.upperBound..<data.endIndex))
        data.replaceSubrange(entry.upperBound + 24..<entry.upperBound + 28, with: [0x20, 0, 0x20, 0])
        let lie = file("lie.mp4")
        try data.write(to: lie)
        #expect(try !Self.suffices(lie))
        #expect(try Self.facts(lie, believesHeader: true) == Self.facts(lie, believesHeader: false))
    }

    @Test func `only the plainest configuration of AAC tells all`() {
        #expect(DecoderConfiguration.plainAAC([0x12, 0x10])! == (44_100, 2))
        #expect(DecoderConfiguration.plainAAC([0x11, 0x88])! == (48_000, 1))
        #expect(DecoderConfiguration.plainAAC([0x12, 0x10, 0x56, 0xe5, 0x00])! == (44_100, 2))
        for other: [UInt8] in [
            [], [0x12], [0x12, 0x10, 0x56, 0xe5, 0x80], [0x12, 0x10, 0, 0, 0], [0x2b, 0x10], [0x12, 0x14],
            [0x12, 0x30],
            [0x12, 0x00], [0x17, 0x90],
        ] { #expect(DecoderConfiguration.plainAAC(other) == nil, "\(other)") }
    }

    @Test(arguments: [["-b:a", "128k"], ["-q:a", "4", "-write_id3v1", "1"], ["-ac", "1", "-ar", "22050"]])
    func `the frames of an MP3 are counted as FFmpeg counts them`(encoding: [String]) throws {
        let source = file("sound.mp3")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "sine=duration=7,tremolo=f=3", "-metadata", "title=t", "-c:a", "libmp3lame"]
                + encoding, to: source)
        let data = try Data(contentsOf: source)
        let bytes = [UInt8](data)
        let text = try Tool.text(
            "ffprobe",
            ["-v", "error", "-show_entries", "packet=pos,duration_time", "-of", "csv=p=0", source.path])
        let packets = text.split(separator: "\n").map { $0.split(separator: ",").compactMap { Double($0) } }
        let first = try #require(packets.first?.last)
        let sum = packets.reduce(0) { $0 + $1[0] }
        func seconds(_ bytes: [UInt8]) -> Double? {
            MP3Frame.seconds(from: Int64(first), of: Int64(bytes.count)) { count, offset in
                let end = Int(offset) + count
                return offset >= 0 && end <= bytes.count ? Array(bytes[Int(offset)..<end]) : nil
            }
        }
        let counted = try #require(seconds(bytes))
        #expect(abs(counted - sum) < 0.001)
        // What is cut off, or followed by something else, has to be looked at by FFmpeg.
        #expect(seconds(bytes.dropLast(300)) == nil)
        #expect(seconds(bytes + [1, 2, 3]) == nil)
        var broken = bytes
        broken.replaceSubrange(bytes.count / 2..<bytes.count / 2 + 2_000, with: [UInt8](repeating: 0, count: 2_000))
        #expect(seconds(broken) == nil)
    }

    @Test func `a WAV in which something else is hidden is not believed to be PCM`() throws {
        let plain = file("plain.wav")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "sine=duration=2", "-c:a", "pcm_s16le"], to: plain)
        #expect(try Self.suffices(plain, format: "wav"))
        let wrapped = file("wrapped.wav")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "sine=duration=2:sample_rate=48000", "-ac", "2", "-c:a", "ac3", "-f", "spdif"],
            to: file("bits"))
        try Tool.ffmpeg(["-f", "s16le", "-ar", "48000", "-ac", "2", "-i", file("bits").path], to: wrapped)
        #expect(try !Self.suffices(wrapped, format: "wav"))
    }

    @Test func `of a WAV whose header is believed no more is read than the packets that are asked for`() throws {
        let wave = file("long.wav")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "sine=duration=60", "-c:a", "pcm_s16le"], to: wave)
        let position: Int64? = try withDescriptor(wave) { descriptor in
            guard let demuxer = try Demuxer.open(descriptor, bytes: fileBytes(descriptor), formats: ["wav"]),
                try demuxer.believeHeader(), try demuxer.read(Packet())
            else { return nil }
            return unsafe avio_seek(demuxer.raw.pointee.pb, 0, SEEK_CUR)
        }
        #expect(try #require(position) < 16_000)
    }
}
