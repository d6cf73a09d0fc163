import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Parts of clips, measured by decoding what a player shows, and all that the files hold.
@Suite struct TrimTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    struct Source: CustomTestStringConvertible, Sendable {
        var name: String
        var arguments: [String]
        /// Changes a finished file, with what FFmpeg is given before and after the input; nil for nothing.
        var remux: (before: [String], after: [String], name: String)?
        var hasAudio = true
        var method = TrimMethod.encode

        var testDescription: String { "\(name): \(arguments.joined(separator: " "))" }

        init(
            _ name: String, _ arguments: String, audio: String = "-c:a aac", method: TrimMethod = .encode,
            remux: (before: String, after: String, name: String)? = nil
        ) {
            func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
            self.name = name
            self.arguments = words(arguments) + words(audio)
            hasAudio = !audio.contains("-an")
            self.method = method
            self.remux = remux.map { (words($0.before), words($0.after), $0.name) }
        }
    }

    private static let x264 = "-c:v libx264 -preset veryfast -sc_threshold 0 -pix_fmt yuv420p"

    /// The sound 0.4 s later than it was.
    private static let delayed = "-itsoffset 0.4 -i $FILE -map 0:v -map 1:a -c copy"
    /// Every picture of the first second, then every third, then all but each fourth.
    private static let varied = "-vf select=lt(n\\,25)+gt(n\\,60)*mod(n\\,4)+not(mod(n\\,3))*lt(n\\,61) -fps_mode vfr"

    /// In an order in which every other one, from the second on, holds each coding of pictures and sound and each container.
    private static let all = [
        Source("bf0.mp4", "\(x264) -g 250 -bf 0"),
        Source("bf3.mp4", "\(x264) -g 25 -bf 3"),
        Source("long.mov", "\(x264) -g 250 -bf 3"),
        Source("pcm.mov", "\(x264) -g 30", audio: "-c:a pcm_s16le"),
        Source("bf3.mkv", "\(x264) -g 25 -bf 3"),
        Source("open.mkv", "\(x264) -g 25 -bf 3 -x264-params open-gop=1", audio: "-c:a libvorbis"),
        Source("bf0.avi", "\(x264) -g 25 -bf 0", audio: "-c:a libmp3lame"),
        Source("bf2.avi", "\(x264) -g 25 -bf 2", audio: "-c:a libmp3lame"),
        Source("bf3.ts", "\(x264) -g 25 -bf 3"),
        Source("open.ts", "\(x264) -g 25 -bf 3 -x264-params open-gop=1", audio: "-c:a ac3"),
        Source("hevc.mp4", "-c:v libx265 -preset ultrafast -x265-params log-level=0:keyint=25:open-gop=0 -tag:v hvc1"),
        Source("cra.mov", "-c:v libx265 -preset ultrafast -x265-params log-level=0:keyint=25:open-gop=1:bframes=3"),
        Source("cra.mkv", "-c:v libx265 -preset ultrafast -x265-params log-level=0:keyint=25:open-gop=1:bframes=3"),
        Source("cra.ts", "-c:v libx265 -preset ultrafast -x265-params log-level=0:keyint=25:open-gop=1:bframes=3"),
        Source("mpeg4.mp4", "-c:v mpeg4 -q:v 3 -bf 2 -g 50"),
        Source("mpeg4.mov", "-c:v mpeg4 -q:v 3 -g 250"),
        Source("mpeg4.mkv", "-c:v mpeg4 -q:v 3 -bf 2 -g 50"),
        Source("packed.avi", "-c:v libxvid -q:v 1 -bf 2 -g 50", audio: "-c:a libmp3lame"),
        Source("mpeg4.avi", "-c:v mpeg4 -q:v 3 -g 50", audio: "-c:a libmp3lame"),
        Source("mpeg2.mpg", "-c:v mpeg2video -q:v 3 -bf 2 -g 15", audio: "-c:a mp2"),
        Source("mpeg2.ts", "-c:v mpeg2video -q:v 3 -bf 2 -g 15", audio: "-c:a mp2"),
        Source(
            "mpeg2.mkv", "-c:v mpeg2video -q:v 3 -bf 2 -g 15 -flags cgop -sc_threshold 1000000000", audio: "-c:a ac3"),
        Source("mpeg2.mp4", "-c:v mpeg2video -q:v 3 -bf 2 -g 15"),
        Source("vp8.webm", "-c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M -g 50", audio: "-c:a libvorbis"),
        Source("vp8.mkv", "-c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M -auto-alt-ref 1 -lag-in-frames 10 -g 50"),
        Source("vp9.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 1M -g 50", audio: "-c:a libopus"),
        Source("vp9.mp4", "-c:v libvpx-vp9 -deadline good -cpu-used 8 -b:v 1M -lag-in-frames 10 -auto-alt-ref 1"),
        Source("av1.webm", "-c:v libsvtav1 -preset 12 -g 50", audio: "-c:a libopus"),
        Source("av1.mp4", "-c:v libsvtav1 -preset 12 -g 50"),
        Source("av1.mkv", "-c:v libsvtav1 -preset 12 -g 250"),
        // Times that begin elsewhere, go back, or wrap at 33 bits two seconds in.
        Source("a.ts", "\(x264) -g 250", remux: ("", "-c copy -output_ts_offset 95441.7 -muxdelay 0", "wrapped.ts")),
        Source("b.ts", "-c:v mpeg2video -q:v 3 -bf 2", remux: ("", "-c copy -output_ts_offset 95441.7", "wrapped2.ts")),
        Source("c.mkv", "\(x264) -g 250", remux: ("", "-c copy -output_ts_offset 7.3", "late.mkv")),
        Source("d.mp4", "\(x264) -g 50 -bf 2", remux: ("-ss 0.6", "-c copy", "listed.mp4")),
        Source("e.mp4", "\(x264) -g 25", remux: ("-ss 0.6", "-c copy", "listed2.mov")),
        // Sound that begins later, or ends earlier than the pictures.
        Source("g.mp4", "\(x264) -g 250 -bf 2", remux: ("", delayed, "behind.mp4")),
        Source("h.mkv", "-c:v mpeg4 -q:v 3", remux: ("", delayed, "behind.mkv")),
        Source("i.mp4", "\(x264) -g 250 -bf 2", audio: "-c:a aac -af atrim=0:2"),
        // Pictures at a variable rate, and tracks to choose from.
        Source("k.mp4", "\(x264) -g 250 -bf 2 \(varied)"),
        Source("l.mp4", "\(x264) -g 25 -bf 2 \(varied)"),
        Source("m.webm", "-c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M \(varied)", audio: "-c:a libvorbis"),
        Source("n.mkv", "\(x264) -g 250 -map 0:v -map 1:a -map 0:v -map 1:a -filter:v:1 negate -filter:a:1 areverse"),
        Source("silent.mp4", "\(x264) -g 25 -bf 2", audio: "-an"),
        Source("silent.webm", "-c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M", audio: "-an"),
    ]

    static let sources = Sweep.of(all, every: 2, from: 1)

    @Test(arguments: sources)
    func `a part is exact to a frame and to 20 ms of sound, and nothing outside it is in the file`(
        source: Source
    ) throws {
        let (file, shown) = try #require(try Self.made.get()[source.name])
        var trims = [TrimRequest(start: 1.48, duration: 1.2)]
        if source.arguments.contains("libx264") && source.name.count > 5 {
            trims += [TrimRequest(start: 0.5), TrimRequest(start: 2, duration: 1)]
        }
        for trim in Sweep.of(trims, every: trims.count, from: source.name.utf8.count) {
            try check(file, shown, trim, source)
        }
    }

    /// Each source by its name, with what is shown of it: FFmpeg takes longer to start than to make most of them.
    private static let made = Result {
        let directory = try SharedDirectory().url
        try CountedClips.make(
            sources.map { (["-pix_fmt", "yuv420p"] + $0.arguments, directory.appending(path: $0.name)) })
        let files = try sources.map { source in
            let file = directory.appending(path: source.name)
            guard let remux = source.remux else { return file }
            let other = directory.appending(path: remux.name)
            try Tool.ffmpeg(
                remux.before + ["-i", file.path] + remux.after.map { $0 == "$FILE" ? file.path : $0 }, to: other)
            return other
        }
        var made: [String: (file: URL, shown: CountedClips.Shown)] = [:]
        for hasAudio in [false, true] {
            let some = zip(sources, files).filter { $0.0.hasAudio == hasAudio }
            let shown = try CountedClips.shown(some.map(\.1), hasAudio: hasAudio, in: directory)
            for ((source, file), shown) in zip(some, shown) { made[source.name] = (file, shown) }
        }
        return made
    }

    /// Cuts `file`, and compares what is shown with what is shown of the source.
    private borrowing func check(
        _ file: URL, _ source: CountedClips.Shown, _ trim: TrimRequest, _ kind: Source
    ) throws {
        let name = "\(kind.name) \(trim.start ?? -1)+\(trim.duration ?? -1)"
        var profile = Profile.message
        profile.thumbnail = nil
        profile.video?.poster = nil
        let made = try #require(try Clips.render(file, profile: profile, request: RenditionRequest(trim: trim)))
        let main = try #require(made.main)
        let report = try #require(made.ending.trim)
        let note = made.report(.main)?.note ?? ""
        let start = source.origin + (trim.start ?? 0)
        let lastTime = max(source.pictures.last?.time ?? 0, (source.audioEnd ?? 0) - 1 / CountedClips.rate)
        let end = trim.duration.map { start + $0 } ?? lastTime + 1 / CountedClips.rate

        let (shown, all) = try CountedClips.shownAndHeld(main, hasAudio: kind.hasAudio, in: directory.url)
        let first = try #require(shown.pictures.first)
        let last = try #require(shown.pictures.last)
        let wantedFirst = source.shown(at: start).place
        let wantedLast = source.shown(at: end - 0.005).place
        let places = shown.pictures.map { picture in source.pictures.firstIndex { $0.number == picture.number } ?? -9 }
        let startError = (places.first ?? -9) - wantedFirst
        let endError = (places.last ?? -9) - wantedLast
        #expect(abs(startError) <= 1, "\(name): begins with \(first.number); \(note)")
        #expect(abs(endError) <= 1, "\(name): ends with \(last.number); \(note)")
        #expect(abs(report.start - (trim.start ?? 0)) <= 0.041)
        #expect(abs(first.time) < 0.011, "\(name): begins at \(first.time)")
        let from = places.first ?? 0
        #expect(places == Array(from..<from + places.count), "\(name): \(note)")
        // Each is shown when it was.
        let timeError =
            zip(shown.pictures, places).dropFirst().map { picture, place in
                place < 0 ? 9 : abs(picture.time - (source.pictures[place].time - source.origin - report.start))
            }.max() ?? 0
        #expect(timeError < 0.021, "\(name): \(timeError) s")
        let length = try Probe.of(main).duration
        // Where the end of the source is the end, it is not always known to a frame.
        #expect(
            abs(length - (end - start)) < (trim.duration == nil ? 2 : 1.05) / CountedClips.rate,
            "\(name): lasts \(length)")
        #expect(abs(report.duration - length) < 0.06, "\(name)")

        var audioError = 0.0
        if source.audioStart != nil {
            let delay = source.audioDelay
            let worst =
                shown.audioTimes.map { ($0.time, $0.told - delay - ($0.time + source.origin + report.start)) }
                .max { abs($0.1) < abs($1.1) } ?? (0, 9)
            audioError = abs(worst.1)
            #expect(audioError < 0.02, "\(name): sound is \(worst.1) s off at \(worst.0); \(note)")
            #expect((shown.audioStart ?? 9) < 0.02)
            #expect((shown.audioEnd ?? 0) > min(end, source.audioEnd ?? 0) - start - 0.02, "\(name)")
        }

        // All that the file holds, shown or not.
        #expect(all.pictures.map(\.number).sorted() == shown.pictures.map(\.number).sorted(), "\(name)")
        let told = all.audioTimes.map { $0.told - source.audioDelay }
        if let earliest = told.min(), let latest = told.max() {
            #expect(earliest > start - 0.045, "\(name): sound of \(earliest); \(note)")
            #expect(latest < end + 0.025, "\(name): sound of \(latest); \(note)")
        }
    }
}
