import SatchelCore
import Foundation
import TestSupport
import Testing

/// `Media/` and its manifest agree, and hold what the other suites rely on.
@Suite struct MediaManifestTests {
    /// Every kind of trouble that a suite looks up by its trait.
    static let requiredTraits: [String] =
        (1...8).map { "orientation \($0)" }
        + [
            "orientation invalid", "alpha", "display p3", "adobe rgb", "icc", "cmyk", "grey", "16 bit", "10 bit",
            "progressive", "interlaced", "palette", "colour key", "multi-page", "photograph", "12 megapixels",
            "exif", "gps", "xmp", "iptc", "exif thumbnail", "canary", "trailing data",
            "animated", "apng", "disposal unspecified", "disposal keep", "disposal background", "disposal previous",
            "delay 0", "delay 1", "uneven delays", "loop forever", "loop once", "loop 3", "hidden first picture",
            "one frame",
            "rotated", "rotated 90", "rotated 180", "rotated 270", "variable frame rate", "long group of pictures",
            "longer than 10 s", "b-frames", "hevc", "vp9", "av1", "hdr", "anamorphic", "odd size", "no sound",
            "fragmented", "edit list", "two sound tracks", "subtitles", "many streams",
            "audio only", "cover art", "cover art over 64 KB", "headerless", "longer than 30 s", "stereo", "mono",
            "5.1", "lying duration", "lying size", "chained", "narrow band", "wide band",
            "truncated", "mislabelled", "no extension", "empty", "text", "noise", "html", "script", "svg", "pdf",
            "playlist", "wmv", "wma", "lying dimensions", "decompression bomb", "vast profile",
            "encrypted", "junk before the first frame", "sound that isn't taken", "dts", "truehd", "speex", "mp2",
            "latm",
        ]

    /// Files of `Media/` that are no samples: what lies at its root, the recipes, the readings, and notifications that samples go
    /// with.
    static func isMachinery(_ path: String) -> Bool {
        !path.contains("/") || ["recipes/", "reading/", "notifications/"].contains(where: path.hasPrefix)
    }

    static func filesOnDisk() throws -> Set<String> {
        let root = Repository.media.path(percentEncoded: false)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root)
        return try Set(
            paths.filter { path in
                let values = try Repository.media.appending(path: path).resourceValues(forKeys: [.isRegularFileKey])
                return values.isRegularFile == true && !isMachinery(path)
            })
    }

    let samples: [MediaSample]

    init() throws {
        samples = try MediaManifest.load().files
    }

    @Test func `every file is in the manifest once, and every entry has its file`() throws {
        let listed = samples.map(\.path)
        #expect(Set(listed).count == listed.count)
        #expect(try Self.filesOnDisk() == Set(listed))
    }

    @Test func `the hashes are those of the files`() throws {
        // The paths have no spaces or backslashes, so sha256sum's own list format needs no quoting.
        let list = samples.map { "\($0.sha256)  \($0.path)\n" }.joined()
        var tool = Program.tool("sha256sum")
        tool.directory = Repository.media
        let result = try tool.run(["--check", "--strict", "--quiet", "-"], input: Data(list.utf8))
        #expect(result.status == 0, "\(result.outputText)")
    }

    @Test func `the samples stay small`() throws {
        let sizes = try samples.map { sample in
            try #require(sample.url.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        }
        #expect(sizes.reduce(0, +) < 12_000_000)
        #expect(sizes.allSatisfy { $0 <= 1_500_000 })
    }

    @Test(arguments: MediaType.allCases)
    func `every accepted type has a sample that is delivered`(type: MediaType) {
        #expect(samples.contains { $0.expect.type == type && $0.expect.state == "delivered" })
    }

    @Test(arguments: MediaKind.allCases)
    func `every kind has samples that are delivered and one that is refused`(kind: MediaKind) {
        #expect(samples.contains { $0.expect.kind == kind && $0.expect.state == "delivered" })
        #expect(samples.contains { $0.expect.kind == kind && $0.expect.state == "failed" })
    }

    @Test(arguments: requiredTraits)
    func `every kind of trouble has a sample`(trait: String) {
        #expect(samples.contains { $0.traits.contains(trait) })
    }

    @Test func `every entry says where it comes from and under which licence`() {
        let licences: Set = ["Apache-2.0", "CC0-1.0", "CC-BY-3.0", "LicenseRef-PublicDomain"]
        for sample in samples {
            #expect(!sample.origin.isEmpty, "\(sample.path)")
            #expect(licences.contains(sample.licence), "\(sample.path): \(sample.licence)")
            #expect(!sample.traits.isEmpty, "\(sample.path)")
        }
    }

    @Test func `what is expected is consistent in itself`() {
        for sample in samples {
            let expect = sample.expect
            switch expect.state {
            case "delivered":
                #expect(expect.code == nil && expect.kind != nil && expect.type != nil, "\(sample.path)")
                if expect.kind != .audio {
                    #expect(expect.width != nil && expect.height != nil, "\(sample.path)")
                }
                #expect((expect.kind == .animation) == (expect.frames != nil), "\(sample.path)")
            case "failed":
                #expect(expect.code != nil && expect.code != .unrecognizedType, "\(sample.path)")
            case "skipped":
                #expect(
                    expect.code == .unrecognizedType || sample.traits.contains("empty"), "\(sample.path)")
                #expect(expect.kind == nil && expect.type == nil, "\(sample.path)")
            default:
                Issue.record("\(sample.path): no such state: \(expect.state)")
            }
        }
    }

    @Test func `a canary is in every file that claims one and nowhere else`() throws {
        // PNG's compressed text and box-packed metadata hide it from a plain search.
        let hidden: Set = ["trouble/endless-text.png"]
        for sample in samples where !hidden.contains(sample.path) {
            let found = try Data(contentsOf: sample.url).firstRange(of: Data("SATCHEL-CANARY".utf8)) != nil
            #expect(found == sample.traits.contains("canary"), "\(sample.path)")
        }
    }
}
