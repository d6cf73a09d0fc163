import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Parts of a source that no rendition has, and the notes that say so.
@Suite struct LeftOutTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private static let pictures = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=2"]
    private static let audio = ["-f", "lavfi", "-i", "sine=duration=2"]
    private static let h264 = ["-pix_fmt", "yuv420p", "-c:v", "libx264"]

    @Test(
        arguments: [
            ("one.mp4", 1, "mov_text"), ("one.mov", 1, "mov_text"), ("one.mkv", 1, "subrip"), ("one.webm", 1, "webvtt"),
            ("two.mkv", 2, "ass"), ("two.mp4", 2, "mov_text"),
        ])
    func `subtitles are left out with a note`(name: String, count: Int, coding: String) throws {
        let (words, source) = (file("words.srt"), file(name))
        try Data("1\n00:00:00,000 --> 00:00:01,000\nHello\n".utf8).write(to: words)
        let subtitles = Array(repeating: ["-i", words.path], count: count).flatMap(\.self)
        let maps = (0...count).flatMap { ["-map", "\($0)"] }
        let video = name.hasSuffix("webm") ? ["-c:v", "libvpx"] : Self.h264
        try Tool.ffmpeg(Self.pictures + subtitles + maps + video + ["-c:s", coding], to: source)
        #expect(try Probe.of(source).streams.count { $0.codecType == "subtitle" } == count)
        let made = try #require(try Clips.render(source))
        #expect(made.ending.omissions == [Finding(.leftOut, .subtitles, named: "the result")])
        #expect(made.ending.losses == [])
        #expect(try Probe.of(made.file(.main)).streams.map(\.codecType) == ["video"])
    }

    @Test(arguments: ["a.mp4", "a.mkv", "a.mov", "a.ts"])
    func `further video tracks are left out with a note`(name: String) throws {
        let source = file(name)
        try Tool.ffmpeg(
            Self.pictures + Self.pictures + Self.pictures + ["-map", "0", "-map", "1", "-map", "2"] + Self.h264,
            to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.ending.omissions == [Finding(.oneTaken, .videoTracks, missing: 2, of: 3)])
        #expect(made.ending.losses == [])
    }

    @Test(
        arguments: [
            ("a.mp4", "5.1", "aac"), ("a.mkv", "7.1", "flac"), ("a.mov", "quad", "pcm_s16le"), ("a.m4a", "5.1", "aac"),
            ("a.wav", "5.1", "pcm_s16le"), ("a.flac", "4.0", "flac"), ("a.m4a", "stereo", "aac"),
        ])
    func `channels that are mixed down are noted`(name: String, layout: String, coding: String) throws {
        let source = file(name)
        let isVideo = ["mp4", "mkv", "mov"].contains(source.pathExtension)
        try Tool.ffmpeg(
            (isVideo ? Self.pictures : []) + Self.audio + ["-af", "aformat=channel_layouts=\(layout)"]
                + (isVideo ? Self.h264 : []) + ["-c:a", coding], to: source)
        let channels = try #require(try Probe.of(source).audio?.channels)
        let made = try #require(try Clips.render(source))
        let mixed = Finding(.mixedDown, .channels, missing: channels - 2, of: channels)
        #expect(made.ending.omissions == (channels > 2 ? [mixed] : []) && made.ending.losses == [])
        #expect(try #require(made.audio().channels) <= 2)
    }

    @Test(arguments: [0, 1, 300])
    func `a GIF behind a GIF is left out with a note`(zeros: Int) throws {
        let still = file("still.gif")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "1"], to: still)
        for first in [still, Repository.media.appending(path: "gif/play-once.gif")] {
            let source = file("twice.gif")
            let bytes = try Data(contentsOf: first)
            try (bytes + Data(count: zeros) + bytes).write(to: source)
            let made = try Rendered.of(source, in: directory.url)
            let alone = try Rendered.of(first, in: directory.url)
            #expect(made.ending.omissions == alone.ending.omissions + [Finding(.oneTaken, .pictures)])
            #expect(made.ending.losses == [] && made.reports.map(\.bytes) == alone.reports.map(\.bytes))
        }
    }

    @Test(arguments: [
        "heic/coffee-gps.heic", "heic/alpha.heic", "heic/rotated.heic", "heif/cat.heif", "avif/coffee.avif",
    ])
    func `the video of a moving HEIC is left out with a note`(path: String) throws {
        let picture = try Data(contentsOf: Repository.media.appending(path: path))
        let fragments = try Data(contentsOf: Repository.media.appending(path: "mp4/fragmented.mp4"))
        let video = try Data(contentsOf: Repository.media.appending(path: "mp4/one-frame.mp4"))
        func box(_ type: String, _ body: Data) -> Data {
            unsafe withUnsafeBytes(of: UInt32(body.count + 8).bigEndian) { unsafe Data($0) } + Data(type.utf8) + body
        }
        let name = try #require(video.range(of: Data("moov".utf8)))
        let length = video[name.lowerBound - 4..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        let tracks = video[name.lowerBound - 4..<name.lowerBound - 4 + length]
        var alone: Rendered?
        for (tail, isMoving) in [
            (Data(), false), (box("free", Data(count: 100)), false), (box("mpvd", video), true), (tracks, true),
            (video, true), (fragments, true), (box("abcd", video), true), (box("free", Data(count: 9)) + video, true),
            (Data(count: 4) + Data("MotionPhoto_Data".utf8) + video + Data("SEFT".utf8), true),
        ] {
            let source = file("moving.heic")
            try (picture + tail).write(to: source)
            let made = try Rendered.of(source, in: directory.url)
            alone = alone ?? made
            let left = isMoving ? [Finding(.leftOut, .motion, named: "a still")] : []
            #expect(made.ending.omissions == (alone?.ending.omissions ?? []) + left)
            #expect(made.ending.losses == [] && made.probeResult.kind == .image)
            #expect(made.reports.map(\.bytes) == alone?.reports.map(\.bytes))
        }
    }
}
