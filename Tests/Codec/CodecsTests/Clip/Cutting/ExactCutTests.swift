import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Which frames a part has and for how long each is shown, at any frame rate, with any keyframes, in any container.
@Suite struct ExactCutTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    struct Source: CustomTestStringConvertible, Sendable {
        var name: String
        var rate: Double
        var frames: Int
        var encoding: String
        var hasAudio: Bool

        var testDescription: String { name }

        /// A tone is heard outside of `part` alone.
        func make(in directory: URL, silent part: ClosedRange<Double>? = nil) throws -> URL {
            let file = directory.appending(path: "\(UUID().uuidString.prefix(8))-\(name)")
            let length = Double(frames) / rate
            var arguments = [
                "-f", "lavfi", "-i",
                "color=c=black:size=64x48:rate=\(rate):duration=\(length),geq=lum='16+5*mod(N,40)':cb=128:cr=128",
            ]
            if hasAudio {
                let silence = part.map { ",volume=0:enable='between(t,\($0.lowerBound),\($0.upperBound))'" } ?? ""
                arguments += ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=\(length)\(silence)"]
            }
            arguments += [
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-sc_threshold", "0", "-vsync", "vfr",
            ]
            try Tool.ffmpeg(arguments + encoding.split(separator: " ").map(String.init) + ["-c:a", "aac"], to: file)
            return file
        }
    }

    /// Two refreshes at the beginning, then one group; and every frame a refresh.
    private static let groups = [
        ("intra", "-g 1"), ("two", "-g 250 -force_key_frames expr:lt(n,2) -x264-params forced-idr=1"),
        ("five", "-g 5 -bf 2 -x264-params b-adapt=0"),
    ]

    private static let sources = Sweep.of(
        [1, 2, 10, 29.97, 60].flatMap { rate in
            groups.flatMap { group in
                ["mp4", "mov", "mkv", "ts"].map { container in
                    Source(
                        name: "\(group.0)-\(rate).\(container)", rate: rate, frames: 12, encoding: group.1,
                        hasAudio: container.count == 2 || rate > 20)
                }
            }
        } + ["mp4", "mkv"].map { Source(name: "pair.\($0)", rate: 30, frames: 2, encoding: "-g 1", hasAudio: false) },
        every: 3)

    /// Frames far apart, and groups of them, up to the end.
    private static let varied = Sweep.of(
        ["-bf 0", "-bf 2"].flatMap { order in
            ["mp4", "mov", "mkv", "ts"].map { container in
                Source(
                    name: "varied\(order.suffix(1)).\(container)", rate: 10, frames: 100,
                    encoding: "-g 5 \(order) -vf select=lt(t\\,2)+not(mod(n\\,30))", hasAudio: container == "mkv")
            }
        }, every: 2)

    /// A frame, as ffprobe and FFmpeg tell.
    private struct Frame: Equatable {
        var time: Double
        var count: Int
    }

    private borrowing func frames(_ url: URL) throws -> [Frame] {
        let times = try Probe.of(url, frames: true).frames?.compactMap { Double($0.ptsTime ?? "") } ?? []
        let counts = try BrightnessClip.counts(of: url)
        #expect(times.count == counts.count, "\(url.lastPathComponent)")
        return zip(times, counts).map { Frame(time: $0, count: $1) }
    }

    /// Cuts a part, and compares it with what is shown of the source then.
    private borrowing func check(_ source: Source, _ trim: TrimRequest?) throws {
        let start = trim?.start ?? 0
        let silent = trim.map { start...start + ($0.duration ?? 1e6) }
        let file = try source.make(in: directory.url, silent: source.hasAudio ? silent : nil)
        let (main, made) = try CountedClips.part(file, trim)
        let note = "\(source.name) \(start)+\(trim?.duration ?? -1): \(made.report(.main)?.note ?? "")"
        #expect(made.ending.losses == [])

        let begins = try Probe.of(file).streams.compactMap { Double($0.startTime ?? "") }
        let origin = begins.min().map { $0 < 0 && $0 > -0.2 ? 0 : $0 } ?? 0
        let all = try frames(file).map { Frame(time: $0.time - origin, count: $0.count) }
        let end = trim?.duration.map { start + $0 } ?? .infinity
        let leniency = min(0.25 / source.rate, 0.01) + 0.001
        let first = all.lastIndex { $0.time <= start + leniency } ?? 0
        let wanted = all[first...].filter { $0.time < end - leniency }
        let shown = try frames(main)
        #expect(shown.map(\.count) == wanted.map(\.count), "\(note)")
        for (shown, wanted) in zip(shown, wanted) {
            #expect(abs(shown.time - max(0, wanted.time - start)) < 0.012, "\(note): \(shown) is not \(wanted)")
        }
        // The record, the file, its pictures and what was asked for agree.
        let recorded = try #require(made.report(.main)?.duration)
        let (whole, pictures) = try (Probe.of(main).duration, Double(#require(made.pictures().duration)) ?? -1)
        #expect(abs(recorded - whole) < 0.03, "\(note): \(recorded) s in the record, \(whole) s in the file")
        if !source.hasAudio {
            #expect(abs(pictures - whole) < 0.1 + 2 / source.rate, "\(note): \(pictures) s of \(whole) s")
        }
        if let duration = trim?.duration {
            let wanted = min(duration, (all.last?.time ?? 0) + 1 / source.rate - start)
            #expect(abs(whole - wanted) < 0.021 + (source.hasAudio ? 0.025 : 0), "\(note): \(whole) s")
        } else if trim == nil {
            #expect(whole > (all.last?.time ?? 0) + 0.5 / source.rate, "\(note): \(whole) s")
        }
        guard source.hasAudio, trim != nil else { return }
        let samples = try JudgedSound.samples([main], rate: 8000)[0]
        // A packet at either end, and as much again at the start where what primes a decoder has a time of its own.
        let loud = samples.dropFirst(600).dropLast(360).firstIndex { $0.magnitude > 300 }
        #expect(loud == nil, "\(note): sound of outside at \(Double(loud ?? 0) / 8000) s")
    }

    @Test(arguments: sources)
    func `a clip keeps its first frame, whatever follows it`(source: Source) throws {
        try check(source, nil)
    }

    @Test(arguments: sources)
    func `a part begins and ends within a frame, and nothing of outside is seen or heard`(source: Source) throws {
        let frame = 1 / source.rate
        // Within frames at either end; on a frame; shortly before one.
        let parts = [(0.6, 4.9), (0.4, 3.1), (2, 3), (1.002, 5.5), (3.6, 7.2)]
        guard source.frames > 2 else { return }
        for (start, length) in Sweep.of(parts, every: 3, from: source.name.utf8.count) {
            try check(source, TrimRequest(start: start * frame, duration: length * frame))
        }
    }

    @Test(arguments: varied)
    func `the last frame of a variable rate is shown as long as it was`(source: Source) throws {
        try check(source, nil)
        for (start, length) in Sweep.of([(0.5, 7.2), (1, 3.5), (0.04, 9.1)], every: 2, from: source.name.utf8.count) {
            try check(source, TrimRequest(start: start, duration: length))
        }
    }
}
