import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Work that is stopped inside the libraries when its time is up, by sources that take long to make.
@Suite(.serialized) struct StoppingTests {
    /// Sources that take a multiple of what they are given, by what does the work.
    enum Source: String, CaseIterable, CustomTestStringConvertible {
        case progressive, interlaced, animation, clip, audio

        var testDescription: String { rawValue }

        private static let directory = Result { try SharedDirectory() }

        /// Made by tools, large enough; once, as tests come one by one.
        func make() throws -> URL {
            let directory = try Self.directory.get().url
            let file = directory.appending(path: "source.\(fileExtension)")
            guard !FileManager.default.fileExists(atPath: file.path) else { return file }
            switch self {
            case .progressive: try Self.noise(width: 5000, height: 4000, in: directory, "jpegsave", file)
            case .interlaced: try Self.noise(width: 3000, height: 2000, in: directory, "pngsave", file)
            case .animation:
                try Tool.run(
                    "ffmpeg",
                    ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=480x360:rate=20:duration=9", file.path])
            case .clip:
                try Tool.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30:duration=10", "-c:v",
                        "mpeg4", "-q:v", "4", file.path,
                    ])
            case .audio:
                try Tool.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i", "anoisesrc=seed=1:duration=600", "-c:a", "flac", file.path,
                    ])
            }
            return file
        }

        private static func noise(
            width: Int, height: Int, in directory: URL, _ saver: String, _ file: URL
        ) throws {
            let (floats, bytes) = (directory.path + "/floats.v", directory.path + "/bytes.v")
            try Tool.run("vips", ["gaussnoise", floats, "\(width)", "\(height)", "--mean", "128", "--sigma", "20"])
            try Tool.run("vips", ["cast", floats, bytes, "uchar"])
            try Tool.run("vips", [saver, bytes, file.path, "--interlace"])
        }

        private var fileExtension: String {
            switch self {
            case .progressive: "jpg"
            case .interlaced: "png"
            case .animation: "gif"
            case .clip: "mp4"
            case .audio: "flac"
            }
        }
    }

    static let profile = {
        var profile = Profile.message
        profile.audio?.maximumDuration = nil
        return profile
    }()

    @Test(arguments: Source.allCases)
    func `work whose time is up ends by itself, soon, and without an error`(source: Source) throws {
        let directory = try TemporaryDirectory()
        let file = try source.make()
        let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile, secondsLeft: 0.02)
        // Alone on a machine it takes a few hundredths of a second; beside other tests, more.
        #expect(rendered.seconds < 1, "it went on for \(rendered.seconds) s")
        #expect(rendered.report(.main) == nil)
        #expect(rendered.reports.count < rendered.probeResult.planned.count)
        try expectReasons(rendered)
    }

    /// Expects a reason for each rendition that was left out.
    private func expectReasons(_ rendered: Rendered) throws {
        for role in rendered.probeResult.planned {
            let parts = (rendered.ending.losses + rendered.ending.omissions).map(\.part?.rawValue)
            let isMade = rendered.report(role) != nil
            #expect(isMade || parts.contains(role.rawValue), "\(role.rawValue) is missing without a reason")
        }
        let made = rendered.reports.map(\.role.rawValue)
        #expect(rendered.ending.losses.allSatisfy { $0.part.map { !made.contains($0.rawValue) } ?? true })
    }

    @Test(arguments: [Source.progressive, .animation, .clip])
    func `what is given up or reduced for the time says why, with the figures of the estimate`(source: Source) throws {
        let directory = try TemporaryDirectory()
        let file = try source.make()
        var causes: Set<String> = []
        for left in [0.05, 0.2, 0.6, 1.5] {
            let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile, secondsLeft: left)
            try expectReasons(rendered)
            for finding in rendered.ending.losses + rendered.reports.compactMap(\.haste) {
                switch finding.code {
                case .estimate:
                    let (needed, left) = (finding.missing ?? 0, finding.total ?? 0)
                    causes.insert(needed > left * 0.8 ? "estimate" : "what would do")
                case .pace: causes.insert("pace")
                case .timeUp: causes.insert("time")
                default: causes.insert("damage")
                }
            }
        }
        // Of a still that is begun all the same there may be nothing in time.
        #expect(!causes.isEmpty && (source == .progressive || causes.contains("estimate")), "\(causes)")
        #expect(causes.isSubset(of: ["estimate", "pace", "time"]), "\(causes)")
    }
}
