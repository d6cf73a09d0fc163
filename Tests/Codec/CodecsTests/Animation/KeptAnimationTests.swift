import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// GIFs that fit are kept: every frame coded anew without loss, which the rendition's note says, or else what stands against it.
@Suite struct KeptAnimationTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    private static func profile(
        _ type: MediaType = .gif, side: Int? = nil, aim: Int64? = nil, cap: Int64 = 50_000_000
    ) -> Profile {
        Profile(name: "test", animation: AnimationPolicy(type: type, longestSide: side, aim: aim, cap: cap))
    }

    @Test(arguments: ["gif/film.gif", "gif/disposal-2.gif", "gif/local-palettes.gif", "gif/loop-3.gif"])
    func `a GIF that fits is kept, frame by frame`(path: String) throws {
        let made = try Rendered.of(sample(path), in: directory.url, profile: Self.profile())
        let report = try #require(made.report(.main))
        #expect(report.note.hasPrefix("kept: ") && !report.note.contains("not kept"), "\(report.note)")
        let judged = try AnimationJudge.compare(try made.path(.main), with: sample(path))
        #expect(judged.likeness == 99 && judged.wrongAlpha == 0)
        #expect(judged.frames == judged.expectedFrames && judged.delays == judged.expectedDelays)
    }

    /// What stands against keeping a sample, and the words that say so; nil where its shape says it.
    private static let obstacles: [(path: String, profile: Profile, words: String?)] = [
        ("gif/loop-3.gif", profile(side: 20), nil),
        ("gif/loop-3.gif", profile(.webp), "; not kept: it came as GIF"),
        ("webp/animated.webp", profile(), "; not kept: it came as WebP"),
        ("webp/animated.webp", profile(.webp), "; not kept: no WebP is coded anew without loss"),
        ("png/animated.png", profile(), "; not kept: it came as PNG"),
        ("gif/film.gif", profile(aim: 100_000), nil),
    ]

    @Test func `what isn't kept says why`() throws {
        for (path, profile, words) in Self.obstacles {
            let made = try Rendered.of(sample(path), in: directory.url, profile: profile)
            let note = try #require(made.report(.main)).note
            #expect(!note.hasPrefix("kept: "), "\(path): \(note)")
            #expect(words.map { note.hasSuffix($0) } ?? !note.contains("not kept: it came"), "\(path): \(note)")
        }
    }

    @Test func `a part isn't kept, and one that is all of it is`() throws {
        let source = sample("gif/film.gif")
        func note(_ trim: TrimRequest) throws -> String {
            let made = try Rendered.of(
                source, in: directory.url, profile: Self.profile(), request: RenditionRequest(trim: trim))
            return try #require(made.report(.main)).note
        }
        #expect(try !note(TrimRequest(start: 0.5, duration: 0.5)).hasPrefix("kept: "))
        #expect(try note(TrimRequest(start: 0, duration: 100)).hasPrefix("kept: "))
    }

    @Test func `what lacks a frame isn't kept`() throws {
        var profile = Self.profile()
        profile.damaged = .salvage
        let made = try Rendered.of(sample("trouble/truncated.gif"), in: directory.url, profile: profile)
        let note = try #require(made.report(.main)).note
        #expect(
            !note.hasPrefix("kept: ") && note.hasSuffix("; not kept: it didn't decode without a warning"), "\(note)")
    }
}
