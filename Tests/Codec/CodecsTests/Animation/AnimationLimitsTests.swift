import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// Bytes, frames and memory at their limits, and files that lie.
@Suite struct AnimationLimitsTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func profile(
        _ type: MediaType = .gif, side: Int? = nil, aim: Int64? = nil, cap: Int64
    ) -> Profile {
        Profile(name: "test", animation: AnimationPolicy(type: type, longestSide: side, aim: aim, cap: cap))
    }

    /// Pictures of FFmpeg's sources, as GIF.
    private borrowing func moving(_ source: String, frames: Int, _ options: [String] = []) throws -> URL {
        let file = directory.url.appending(path: "\(frames)-\(options.count).gif")
        try Tool.ffmpeg(["-f", "lavfi", "-i", source, "-frames:v", "\(frames)"] + options, to: file)
        return file
    }

    private static func noise(_ size: String) -> String { "color=gray:s=\(size):r=25,noise=alls=100:allf=t" }

    /// Frames, and hundredths of all of them, by gifsicle.
    private func gifTotals(_ file: String) throws -> (frames: Int, hundredths: Int) {
        let lines = try Tool.text("gifsicle", ["--info", file]).split(separator: "\n")
        let delays = lines.compactMap { line in
            line.range(of: "delay ").flatMap { Double(line[$0.upperBound...].dropLast()) }
        }
        return (lines.filter { $0.contains("+ image") }.count, Int((delays.reduce(0, +) * 100).rounded()))
    }

    @Test(
        arguments: [(.gif, 400_000), (.gif, 60_000), (.gif, 2_000), (.webp, 60_000), (.mp4, 60_000)]
            as [(MediaType, Int64)])
    func `900 frames of noise are at most their cap, and last as long`(type: MediaType, cap: Int64) throws {
        let source = try moving(Self.noise("80x60"), frames: 900)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(type, cap: cap))
        let report = try #require(rendered.report(.main))
        let output = try rendered.path(.main)
        #expect(try Data(contentsOf: URL(filePath: output)).count == Int(report.bytes))
        #expect(report.bytes <= cap && report.encodes <= 6)
        #expect(report.note.contains("because more was over the cap of \(cap) bytes"))
        let expected = try gifTotals(source.path).hundredths
        if type == .gif {
            let found = try gifTotals(output)
            #expect(found.hundredths == expected)
            if found.frames < 900 { #expect(report.note.contains("900 frames merged into \(found.frames)")) }
        } else if type == .mp4 {
            let seconds = try Tool.text(
                "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", output])
            #expect(abs((Double(seconds) ?? 0) - Double(expected) / 100) < 0.002)
        }
        // It can be decoded to its end.
        if type != .webp { try Tool.run("ffmpeg", ["-v", "error", "-xerror", "-i", output, "-f", "null", "-"]) }
    }

    @Test func `an aim is met by quality first, and given up before much would be lost`() throws {
        let source = Repository.media.appending(path: "gif/film.gif")
        func made(_ aim: Int64?) throws -> RenditionReport {
            let profile = Self.profile(side: 160, aim: aim, cap: 10_000_000)
            return try #require(try Rendered.of(source, in: directory.url, profile: profile).report(.main))
        }
        let free = try made(nil)
        #expect(free.encodes == 1 && free.size?.width == 160)
        let near = try made(free.bytes * 8 / 10)
        #expect(near.bytes <= free.bytes * 8 / 10 && near.encodes <= 3)
        #expect(near.size?.width == 160 && near.note.contains("quality lowered because more was over the aim"))
        let far = try made(free.bytes / 30)
        #expect(far.bytes > free.bytes / 30 && far.note.contains("over the aim of"))
        #expect((far.size?.width ?? 0) >= 96)
    }

    @Test func `thousands of small frames all come out`() throws {
        let source = try moving("testsrc=s=16x12:r=50", frames: 5_000)
        #expect(try gifTotals(source.path).frames == 5_000)
        for side in [nil, 8] {
            let profile = Self.profile(side: side, cap: 20_000_000)
            let rendered = try Rendered.of(source, in: directory.url, profile: profile)
            #expect(rendered.probeResult.frames == 5_000)
            let found = try gifTotals(try rendered.path(.main))
            #expect(found.frames == 5_000 && found.hundredths == 10_000)
        }
    }

    @Test func `a WebP whose frames are cut off or whose sizes lie is refused`() throws {
        let data = try Data(contentsOf: Repository.media.appending(path: "webp/animated.webp"))
        let frames = data.indices.filter { data[$0...].starts(with: Data("ANMF".utf8)) }
        #expect(frames.count == 12)
        var samples = [data.prefix(frames[6] + 40)]
        // The seventh frame says it is longer than the file.
        var long = data
        long[frames[6] + 6] = 0xFF
        samples.append(long)
        for (index, sample) in samples.enumerated() {
            let file = directory.url.appending(path: "\(index).webp")
            try sample.write(to: file)
            let error = try Rendered.refusal(of: file, in: directory.url)
            #expect([.corrupt, .undecodable].contains(error?.code), "\(index): \(String(describing: error))")
        }
    }

    @Test func `a frame far larger than its screen is refused before its memory is taken`() throws {
        var data = try Data(contentsOf: Repository.media.appending(path: "gif/delays.gif"))
        let image = try #require(data.firstIndex(of: 0x2C))
        data.replaceSubrange(image + 5..<image + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        let file = directory.url.appending(path: "vast.gif")
        try data.write(to: file)
        #expect(
            try Rendered.refusal(of: file, in: directory.url)
                == .tooManyPixels(pixels: 65_535 * 65_535, limit: Limits().framePixels))
    }

    @Test func `damaged data is refused with the frame's number, and never trusted`() throws {
        let data = try Data(contentsOf: Repository.media.appending(path: "gif/film.gif"))
        let images = try Tool.text("gifsicle", ["--info", Repository.media.appending(path: "gif/film.gif").path])
        #expect(images.contains("20 images"))
        var random = SeededGenerator(seed: 5)
        var refused = 0
        for round in 0..<40 {
            var damaged = data
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                damaged[Int.random(in: 800..<data.count - 1, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            let file = directory.url.appending(path: "damaged-\(round).gif")
            try damaged.write(to: file)
            // Either an animation that another decoder takes, or a refusal; never a crash.
            if let error = try Rendered.refusal(
                of: file, in: directory.url, profile: Self.profile(side: 60, cap: 1_000_000))
            {
                #expect([.corrupt, .undecodable, .tooManyPixels].contains(error.code))
                refused += 1
            }
        }
        #expect(refused > 5)
    }

    /// In a process of its own, because memory is measured at its peak and others run beside this test.
    @Test func `frames of 600 by 400, be they 900, take less than 60 MB`() throws {
        let variable = "SATCHEL_ANIMATION_MEMORY"
        let frames = Sweep.count(900, else: 300)
        if let path = ProcessInfo.processInfo.environment[variable] {
            // The tests' own program is large, and grows.
            let before = try Self.kibibytes("VmRSS:")
            for (name, profile) in [
                ("scaled", Self.profile(side: 320, cap: 100_000_000)), ("whole", Self.profile(cap: 100_000_000)),
            ] {
                let rendered = try Rendered.of(URL(filePath: path), in: directory.url, profile: profile)
                #expect(rendered.probeResult.frames == frames, "\(name)")
            }
            try "\(Self.kibibytes("VmHWM:") - before)".write(toFile: path + ".peak", atomically: true, encoding: .utf8)
            return
        }
        let source = try moving(
            "testsrc2=s=600x400:r=25", frames: frames, ["-threads", "1"])
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arguments =
            Array(CommandLine.arguments.dropFirst()).filter { $0 == "--testing-library" || $0 == "swift-testing" }
            + ["--filter", "AnimationLimitsTests.*60 MB"]
        let child = try Program(URL(filePath: program), environment: [variable: source.path]).run(arguments)
        let peak = try #require(Int(try String(contentsOfFile: source.path + ".peak", encoding: .utf8)))
        #expect(child.status == 0 && peak > 0 && peak * 1024 < 60_000_000 * Int(Survived.slack), "\(peak) KiB")
    }

    /// A figure of this process's memory.
    private static func kibibytes(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.filter(\.isNumber)))
    }
}
