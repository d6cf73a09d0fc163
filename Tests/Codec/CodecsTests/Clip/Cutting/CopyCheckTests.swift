import Foundation
import TestSupport
import Testing

@testable import SatchelCore
@testable import ClipCodecs
@testable import StillCodecs

/// Which damage in a copied clip each check finds.
@Suite struct CopyCheckTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private static func profile(_ check: CopyCheck) -> Profile {
        Profile(name: "copy", damaged: .salvage, video: VideoPolicy(check: check, poster: nil))
    }

    /// Four seconds, of which each has a keyframe.
    private borrowing func clip(_ name: String, _ coding: String = "-bf 3") throws -> URL {
        let source = file(name)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=4", "-pix_fmt", "yuv420p", "-c:v",
                "libx264", "-preset", "veryfast", "-g", "25", "-sc_threshold", "0",
            ] + coding.split(separator: " ").map(String.init), to: source)
        return source
    }

    /// How a clip was delivered.
    private enum Outcome: Equatable {
        case copied(check: String)
        /// Encoded, refused, or not whole.
        case found
    }

    private func outcome(_ source: URL, _ check: CopyCheck) throws -> Outcome {
        let made: RenderedClip?
        do {
            made = try Clips.render(source, profile: Self.profile(check))
        } catch is AttachmentError {
            return .found
        }
        guard let made, let note = made.report(.main)?.note, note.hasPrefix("copied"), made.ending.losses.isEmpty,
            let words = note.split(separator: "; ").last
        else { return .found }
        return .copied(check: String(words))
    }

    @Test(arguments: [
        "-bf 0", "-bf 3", "-bf 2 -b_strategy 0 -x264-params slices=4", "-profile:v baseline", "-bf 3 -refs 5 -coder 0",
        "-bf 3 -x264-params b-pyramid=normal:ref=4", "-x264-params keyint=infinite", "-x264-params aud=1:nal-hrd=vbr",
        "-bf 0 -tune zerolatency -x264-params intra-refresh=1", "-g 1",
    ])
    func `a whole clip leaves no doubt, whatever it is coded with`(coding: String) throws {
        for name in ["whole.mp4", "whole.mkv", "whole.ts"] {
            let source = try clip(name, "\(coding) -maxrate 1M -bufsize 1M")
            #expect(try outcome(source, .structure) == .copied(check: "checked by structure"), "\(name)")
        }
        #expect(try outcome(file("whole.mp4"), .decode) == .copied(check: "checked by decoding"))
    }

    @Test func `only the group of frames in doubt is decoded`() throws {
        let source = try clip("odd.mp4", "-bf 0 -x264-params slices=2")
        var data = try Data(contentsOf: source)
        let packet = try #require(try Self.packets(source).dropFirst(60).first)
        // Exchanges its two slices.
        let slices = try Self.slices(data[packet])
        try #require(slices.count == 2)
        data.replaceSubrange(packet, with: data[slices[1]] + data[slices[0]])
        try data.write(to: source)
        let errors = try Probe.decodingErrors(source)
        let expected =
            errors.isEmpty
            ? Outcome.copied(check: "checked by structure, 1 of 4 groups of frames by decoding") : .found
        #expect(try outcome(source, .structure) == expected)
    }

    @Test func `a smart cut is checked the same way`() throws {
        let source = try clip("long.mp4")
        let request = RenditionRequest(trim: TrimRequest(start: 0.4, duration: 3.2))
        let made = try #require(try Clips.render(source, profile: Self.profile(.structure), request: request))
        #expect(made.ending.trim?.method == .smart)
        let note = try #require(made.report(.main)?.note)
        #expect(note.hasSuffix("; checked by structure"), "\(note)")
        #expect(try Probe.decodingErrors(made.file(.main)) == "")
    }

    // MARK: Mutants

    /// How a clip is damaged.
    private enum Mutation: String, CaseIterable {
        case bit = "one bit of a frame"
        case header = "the start of a slice"
        case length = "the length of a slice"
        case zeros = "64 to 4096 zeros"
        case noise = "64 to 4096 random bytes"
        case missing = "1 to 1000 bytes missing"
        case inserted = "1 to 1000 bytes inserted"
        case cut = "the end missing"
        case swapped = "two frames in each other's place"
        case index = "one byte of the index"
    }

    @Test func `structure finds what breaks the order of a clip, and decoding what lies within its frames`() throws {
        let source = try clip("source.mp4", "-bf 2 -movflags +faststart")
        let whole = try Data(contentsOf: source)
        let packets = try Self.packets(source)
        let index = try #require(whole.range(of: Data("moov".utf8))).upperBound..<packets[0].lowerBound
        var generator = SeededGenerator()
        var found: [Mutation: (all: Int, structure: Int, decoding: Int, missed: Int)] = [:]
        let rounds = Sweep.count(100, else: 12)
        for mutation in Mutation.allCases {
            var counts = (all: 0, structure: 0, decoding: 0, missed: 0)
            for _ in 0..<rounds {
                let mutant = file("mutant.mp4")
                try Self.mutated(whole, by: mutation, packets, index: index, &generator).write(to: mutant)
                let (structure, decoding) = (try outcome(mutant, .structure), try outcome(mutant, .decode))
                counts.all += 1
                if structure == .found { counts.structure += 1 }
                if decoding == .found { counts.decoding += 1 }
                if structure != .found, decoding == .found { counts.missed += 1 }
            }
            found[mutation] = counts
            if Sweep.isFull {
                print("\(mutation.rawValue): \(counts.all), structure \(counts.structure), decode \(counts.decoding)")
            }
        }
        for mutation in [Mutation.length, .zeros, .missing, .inserted, .cut, .swapped] {
            let counts = try #require(found[mutation])
            #expect(counts.missed <= counts.all / 20, "\(mutation): \(counts)")
            #expect(counts.decoding > counts.all / 2, "\(mutation): \(counts)")
        }
        // Noise within a frame is found by decoding.
        let noise = try #require(found[.noise])
        #expect(noise.decoding > noise.structure)
    }

    private static func mutated(
        _ whole: Data, by mutation: Mutation, _ packets: [Range<Int>], index: Range<Int>,
        _ generator: inout SeededGenerator
    ) throws -> Data {
        var data = whole
        let frame = Int.random(in: 1..<packets.count - 1, using: &generator)
        let packet = packets[frame]
        let media = packets[0].lowerBound..<packets[packets.count - 1].upperBound
        let count = Int.random(in: 64...4096, using: &generator)
        let start = Int.random(in: media.lowerBound..<media.upperBound - 4096, using: &generator)
        let few = Int.random(in: 1...1000, using: &generator)
        switch mutation {
        case .bit:
            data[Int.random(in: packet.lowerBound + 8..<packet.upperBound, using: &generator)] ^=
                1 << UInt8.random(in: 0..<8, using: &generator)
        case .header:
            data[packet.lowerBound + Int.random(in: 4..<8, using: &generator)] ^=
                UInt8.random(in: 1...255, using: &generator)
        case .length:
            data[packet.lowerBound + Int.random(in: 1..<4, using: &generator)] ^=
                UInt8.random(in: 1...255, using: &generator)
        case .zeros: data.replaceSubrange(start..<start + count, with: Data(count: count))
        case .noise:
            for place in start..<start + count { data[place] = UInt8.random(in: 0...255, using: &generator) }
        case .missing: data.removeSubrange(start..<start + few)
        case .inserted:
            data.insert(contentsOf: (0..<few).map { _ in UInt8.random(in: 0...255, using: &generator) }, at: start)
        case .cut: data.removeSubrange(start...)
        case .swapped:
            let next = packets[frame + 1]
            data.replaceSubrange(packet.lowerBound..<next.upperBound, with: whole[next] + whole[packet])
        case .index: data[Int.random(in: index, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
        }
        return data
    }

    /// Where the frames of a clip are stored.
    private static func packets(_ source: URL) throws -> [Range<Int>] {
        try Tool.text(
            "ffprobe",
            ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pos,size", "-of", "csv=p=0", source.path]
        ).split(separator: "\n").map { line in
            let numbers = line.split(separator: ",").compactMap { Int($0) }
            guard numbers.count == 2 else { throw Tool.Failure(description: "\(line)") }
            return numbers[1]..<numbers[1] + numbers[0]
        }
    }

    /// Where the slices of a frame are, lengths included.
    private static func slices(_ packet: Data) throws -> [Range<Int>] {
        var slices: [Range<Int>] = []
        var at = packet.startIndex
        while at + 4 < packet.endIndex {
            let end = at + 4 + packet[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            if [1, 5].contains(packet[at + 4] & 0x1f) { slices.append(at..<end) }
            at = end
        }
        return slices
    }
}
