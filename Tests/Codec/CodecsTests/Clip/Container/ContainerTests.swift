import Foundation
import TestSupport
import Testing

@testable import SatchelCore
@testable import ClipCodecs
@testable import StillCodecs

/// What lies around packets: boxes, elements that hold no sound, positions in a file.
@Suite struct ContainerTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// The boxes of a movie in their order, each with its parents: `moov/trak/mdia`.
    private func boxes(_ data: Data, in parent: String = "") -> [String] {
        var found: [String] = []
        var at = data.startIndex
        while at + 8 <= data.endIndex {
            let length = data[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8, at + length <= data.endIndex else { break }
            let name = parent + String(decoding: data[at + 4..<at + 8], as: UTF8.self)
            found.append(name)
            if ["moov", "trak", "mdia", "minf", "stbl"].contains(where: name.hasSuffix) {
                found += boxes(Data(data[at + 8..<at + length]), in: name + "/")
            }
            at += length
        }
        return found
    }

    @Test(
        arguments: [
            ("film.mp4", ["-c:v", "libx264", "-c:a", "aac"], true),
            ("film.mkv", ["-c:v", "mpeg4", "-c:a", "flac"], false),
            ("sound.m4a", ["-vn", "-c:a", "aac"], true), ("sound.flac", ["-vn", "-c:a", "flac"], false),
        ] as [(String, [String], Bool)])
    func `the index comes first, and no box of tags is among the others`(
        name: String, encoding: [String], isCopied: Bool
    ) throws {
        let source = file(name)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-f", "lavfi", "-i", "sine=duration=1",
                "-metadata", "title=canary", "-pix_fmt", "yuv420p",
            ] + encoding, to: source)
        let made = try #require(try Clips.render(source))
        #expect((made.report(.main)?.encodes == 0) == isCopied)
        let data = try Data(contentsOf: made.file(.main))
        let boxes = boxes(data)
        let index = try #require(boxes.firstIndex(of: "moov"))
        let media = try #require(boxes.firstIndex(of: "mdat"))
        #expect(index < media)
        #expect(boxes.first == "ftyp")
        #expect(boxes.contains("moov/free"), "\(boxes)")
        for box in boxes { #expect(!["udta", "meta", "ilst"].contains { box.hasSuffix($0) }, "\(box)") }
        #expect(
            data.range(of: Data("ilst".utf8)) == nil && data.range(of: Data("hdlr\0\0\0\0\0\0\0\0mdir".utf8)) == nil)
        #expect(try Probe.decodingErrors(made.file(.main)) == "")
    }

    @Test(arguments: [[], ["-an"]])
    func `a place that is kept for the index of a copy is large enough, and little larger`(options: [String]) throws {
        let source = file("film.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=6,noise=alls=20:allf=t", "-f", "lavfi",
                "-i", "sine=duration=6", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "20", "-g", "25", "-bf", "2",
                "-pix_fmt", "yuv420p", "-c:a", "aac",
            ] + options, to: source)
        var profile = Profile(name: "copies")
        profile.video = VideoPolicy(cap: 100_000_000, poster: nil)
        let made = try #require(
            try Clips.render(
                source, profile: profile, request: RenditionRequest(trim: TrimRequest(start: 1, duration: 4))))
        #expect(made.ending.trim?.method == .copy)
        let data = try Data(contentsOf: made.file(.main))
        let outer = boxes(data).filter { !$0.contains("/") }
        #expect(outer.starts(with: ["ftyp", "moov", "free"]) && outer.last == "mdat", "\(outer)")
        #expect(try Probe.decodingErrors(made.file(.main)) == "")
        // What ffmpeg makes of the same packets.
        let plain = file("plain.mp4")
        try Tool.ffmpeg(["-i", made.file(.main).path, "-c", "copy"], to: plain)
        #expect(data.count - (try Data(contentsOf: plain)).count < 20_000)
    }

    @Test func `unwanted boxes are found wherever they are, and broken lengths end the search`() {
        var generator = SeededGenerator()
        func box(_ type: String, _ contents: [UInt8]) -> [UInt8] {
            let length = UInt32(contents.count + 8)
            return (0..<4).map { UInt8(length >> (24 - 8 * UInt32($0)) & 255) } + Array(type.utf8) + contents
        }
        let movie = box(
            "moov", box("mvhd", [1, 2]) + box("trak", box("udta", [9]) + box("tkhd", [])) + box("meta", [7, 7]))
        let found = IndexCleaner.unwanted(in: movie).map { Array(movie[$0]) }
        #expect(Set(found) == [Array("udta".utf8) + [9], Array("meta".utf8) + [7, 7]])
        for _ in 0..<5_000 {
            var damaged = movie
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            for range in IndexCleaner.unwanted(in: damaged) { #expect(range.upperBound <= damaged.count) }
        }
    }

    @Test func `what an AAC encoder writes about itself is cleared, and its sound is the same`() throws {
        let source = file("signed.m4a")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "anoisesrc=seed=1:d=1:r=44100:a=0.4", "-c:a", "aac"], to: source)
        #expect(try Data(contentsOf: source).range(of: Data("Lavc".utf8)) != nil)
        let made = try #require(try Clips.render(source))
        #expect(made.report(.main)?.encodes == 0)
        #expect(try Data(contentsOf: made.file(.main)).range(of: Data("Lavc".utf8)) == nil)
        let sums = try [source, made.file(.main)].map {
            try Tool.text("ffmpeg", ["-v", "error", "-i", $0.path, "-f", "md5", "-"])
        }
        #expect(sums[0] == sums[1])
    }

    @Test func `elements before the first sound are cleared, those that carry bands and the sound are not`() {
        /// Bits, the most significant first.
        func packet(_ fields: [(value: Int, bits: Int)]) -> [UInt8] {
            let bits = fields.flatMap { field in (0..<field.bits).map { field.value >> (field.bits - 1 - $0) & 1 } }
            return stride(from: 0, to: bits.count, by: 8).map { start in
                (0..<8).reduce(UInt8(0)) { $0 << 1 | (start + $1 < bits.count ? UInt8(bits[start + $1]) : 0) }
            }
        }
        let text = Array("secret".utf8).map { (Int($0), 8) }
        let audio: [(Int, Int)] = [(0, 3), (0x5a, 8), (0x3c, 8)]
        // A fill element of 7 bytes: four bits of kind, four of the first byte's rest.
        var signed = packet([(6, 3), (7, 4), (0, 4)] + text + [(0, 4)] + audio)
        #expect(AACElements.clear(&signed))
        #expect(signed == packet([(6, 3), (7, 4), (0, 4)] + text.map { _ in (0, 8) } + [(0, 4)] + audio))
        #expect(!AACElements.clear(&signed))
        // A data element whose bytes are aligned.
        var data = packet([(4, 3), (0, 4), (1, 1), (6, 8)] + text + audio)
        #expect(AACElements.clear(&data))
        #expect(data == packet([(4, 3), (0, 4), (1, 1), (6, 8)] + text.map { _ in (0, 8) } + audio))
        // Kind 13: a band's data. Then the sound, which may look like anything.
        for fields in [[(6, 3), (7, 4), (13, 4)] + text + [(0, 4)] + audio, audio + text] {
            let before = packet(fields)
            var after = before
            #expect(!AACElements.clear(&after))
            #expect(after == before)
        }
        var generator = SeededGenerator()
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...40, using: &generator)
            var random = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if count > 10, Bool.random(using: &generator) { random.replaceSubrange(0..<2, with: [0xff, 0xf1]) }
            let before = random
            _ = AACElements.clear(&random)
            #expect(random.count == before.count)
            // Nothing is ever set.
            #expect(zip(random, before).allSatisfy { $0 & ~$1 == 0 })
        }
    }

    @Test func `a position never leaves the file's numbers`() {
        var generator = SeededGenerator()
        let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, 100, .max - 1, .max]
        for whence in Int32(-2)...4 {
            for offset in numbers {
                for position in numbers where position >= 0 {
                    let bytes = Int64.random(in: 0...(.max), using: &generator)
                    let target = DescriptorIO.seekTarget(offset, whence, from: position, of: bytes)
                    let base = whence == 0 ? 0 : (whence == 1 ? position : bytes)
                    let (sum, overflow) = base.addingReportingOverflow(offset)
                    if (0...2).contains(whence), !overflow, sum >= 0 {
                        #expect(target == sum)
                    } else {
                        #expect(target < 0)
                    }
                }
            }
        }
        #expect(DescriptorIO.seekTarget(5, 0x10000, from: 1, of: 77) == 77)
    }
}
