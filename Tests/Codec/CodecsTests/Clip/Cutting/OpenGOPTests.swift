import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Every picture as the start and as the end of a part, where keyframes are not all that a decoder needs: open groups of
/// pictures, whose leading pictures refer to the group before, and recovery points without a refresh.
@Suite struct OpenGOPTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let x265 = "-c:v libx265 -preset ultrafast -crf 16 -x265-params log-level=0:keyint=13:min-keyint=13"
    private static let x264 = "-c:v libx264 -preset veryfast -crf 16 -sc_threshold 0 -g 13 -bf 3 -x264-params"
    private static let mpeg2 = "-c:v mpeg2video -q:v 2 -bf 2 -g 12 -sc_threshold 1000000000"

    static let sources = [
        ("cra.mov", "\(x265):open-gop=1:bframes=4 -c:a aac"),
        ("cra.mp4", "\(x265):open-gop=1:bframes=4:b-pyramid=1 -tag:v hvc1 -an"),
        ("cra.mkv", "\(x265):open-gop=1:bframes=4 -c:a aac"),
        ("cra.ts", "\(x265):open-gop=1:bframes=4 -c:a aac"),
        ("radl.mp4", "\(x265):open-gop=0:radl=2:bframes=4 -c:a aac"),
        ("radl.ts", "\(x265):open-gop=0:radl=2:bframes=4 -an"),
        ("open.mp4", "\(x264) open-gop=1:b-adapt=0 -c:a aac"),
        ("open.mkv", "\(x264) open-gop=1:b-adapt=0 -c:a aac"),
        ("open.ts", "\(x264) open-gop=1:b-adapt=0 -c:a aac"),
        ("recovery.mp4", "\(x264) intra-refresh=1 -c:a aac"),
        ("recovery.mkv", "\(x264) intra-refresh=1 -an"),
        ("recovery.ts", "\(x264) intra-refresh=1 -c:a aac"),
        ("mpeg2.mp4", "\(mpeg2) -c:a aac"),
        ("mpeg2.mkv", "\(mpeg2) -c:a ac3"),
        ("mpeg2.ts", "\(mpeg2) -c:a mp2"),
        ("mpeg2.mpg", "\(mpeg2) -c:a mp2"),
    ]

    private static let frames = 44

    private static func words(_ arguments: String) -> [String] {
        ["-vf", "scale=64:48", "-pix_fmt", "yuv420p", "-t", "1.76"] + arguments.split(separator: " ").map(String.init)
    }

    /// At once; one by one where that fails.
    private static let made: Void = { try? Tool.prepare(CountedClips.inputs, sources.map { (words($0.1), $0.0) }) }()

    @Test(arguments: sources)
    func `a part shows and lets hear what the whole does then, whichever picture it begins and ends with`(
        name: String, arguments: String
    ) throws {
        let file = directory.url.appending(path: name)
        _ = Self.made
        try Tool.ffmpeg(CountedClips.inputs + Self.words(arguments), to: file)
        let hasAudio = !arguments.hasSuffix("-an")
        let source = try CountedClips.shown(file, hasAudio: hasAudio, in: directory.url)
        #expect(source.pictures.map(\.number) == Array(0..<Self.frames))
        let times = source.pictures.map { $0.time - source.origin }

        var trims: [TrimRequest] = []
        for start in times where start < 1.44 { trims.append(TrimRequest(start: start, duration: 0.32)) }
        for end in times.dropFirst(8) { trims.append(TrimRequest(start: times[6], duration: end - times[6])) }
        trims = Sweep.of(trims, every: 8, from: Self.sources.firstIndex { $0.0 == name } ?? 0)
        let sniffed = try Clips.sniff(file)
        let parts = try trims.map { try CountedClips.part(file, $0, sniffed: sniffed) }
        let shown = try CountedClips.shown(parts.map(\.file), hasAudio: hasAudio, in: directory.url)
        var problems: [String] = []
        for (trim, (part, shown)) in zip(trims, zip(parts, shown)) {
            let report = try #require(part.made.ending.trim)
            let method = report.method
            let judge = PartJudge(
                source: source, start: trim.start ?? 0, duration: trim.duration, tolerance: method == .encode ? 0 : 1,
                shift: report.start - (trim.start ?? 0))
            let found = judge.problems(of: shown)
            if !found.isEmpty {
                let words = "\(trim.start ?? -1) + \(trim.duration ?? -1)"
                problems.append("\(words), \(method.rawValue): \(found.joined(separator: ", "))")
            }
        }
        #expect(problems.isEmpty, "\(problems.count) of \(trims.count): \(problems.prefix(6).joined(separator: "; "))")
    }
}
