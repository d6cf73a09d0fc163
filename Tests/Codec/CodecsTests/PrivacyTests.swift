import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What no rendition may tell: `Tests/Codec/privacy/embed.py` puts canaries wherever a format has room for one, and
/// `Tests/Codec/privacy/judge.py` accounts for every byte of what came out, with exiftool and ffprobe.
@Suite struct PrivacyTests: ~Copyable {
    let directory: TemporaryDirectory
    private var outputs: URL { directory.url.appending(path: "outputs") }

    init() throws {
        directory = try TemporaryDirectory()
        try? FileManager.default.createDirectory(
            at: directory.url.appending(path: "outputs"), withIntermediateDirectories: false)
    }

    private static let tools = Repository.root.appending(path: "Tests/Codec/privacy")

    /// What the judge says of the files in `folder`.
    private func verdict(_ folder: URL) throws -> String {
        try Tool.text("python3", [Self.tools.appending(path: "judge.py").path, folder.path])
    }

    /// Sources full of canaries, with the places of each.
    private typealias Embedded = (sources: URL, places: [String: [String]])

    private static let pictures = Result { try embedded("pictures") }
    private static let clips = Result { try embedded("clips") }

    private static func embedded(_ group: String) throws -> Embedded {
        let sources = try SharedDirectory().url
        _ = try Tool.text("python3", [tools.appending(path: "embed.py").path, sources.path, group])
        let list = sources.appending(path: "places.json")
        defer { try? FileManager.default.removeItem(at: list) }
        return (sources, try JSONDecoder().decode([String: [String]].self, from: try Data(contentsOf: list)))
    }

    /// Renders a source, and puts what came out among the outputs, under names that tell its origin.
    private borrowing func render(
        _ source: URL, as name: String, _ profile: Profile, _ request: RenditionRequest = RenditionRequest()
    ) throws -> Rendered {
        let rendered = try Rendered.of(source, in: directory.url, profile: profile, request: request)
        try put(rendered, as: name)
        return rendered
    }

    private borrowing func put(_ rendered: Rendered, as name: String) throws {
        for report in rendered.reports {
            guard let file = rendered.files[report.role] else { continue }
            let to = outputs.appending(path: "\(name).\(report.role.rawValue).\(report.type.fileExtension)")
            try FileManager.default.linkItem(at: file, to: to)
        }
    }

    /// What the record tells people of a source and of what was made of it.
    private static func words(_ rendered: Rendered) -> String {
        (rendered.reports.map(\.note) + [rendered.probeResult.note] + rendered.ending.warnings).joined(separator: "\n")
    }

    @Test func `no canary, and nothing that isn't needed, is in any rendition of a picture full of canaries`() throws {
        let (sources, places) = try Self.pictures.get()
        #expect(places.count >= 15)
        #expect(places.values.joined().count > 380)
        var webp = Profile.message
        webp.name = "webp"
        webp.animation?.type = .webp
        webp.image?.types = [.webp]
        for name in places.keys.sorted() {
            for profile in Sweep.of([Profile.notification, .message, .archive, webp], every: 2, from: name.utf8.count) {
                try check(sources.appending(path: name), profile)
            }
        }
        let verdict = try verdict(outputs)
        #expect(verdict == "")
    }

    @Test func `no canary, and nothing that isn't needed, is in any rendition of a clip full of canaries`() throws {
        let (sources, places) = try Self.clips.get()
        #expect(places.count >= 20)
        #expect(places.values.joined().count > 600)
        for name in places.keys.sorted() {
            try check(sources.appending(path: name), .notification)
            try check(sources.appending(path: name), .archive)
            // The clock of a chained stream begins anew: it can't be searched.
            if name.hasSuffix(".ogg") { continue }
            // Off a keyframe, and on one.
            for start in Sweep.of([0.35, 1], every: 2, from: name.utf8.count) {
                try check(
                    sources.appending(path: name), .notification,
                    RenditionRequest(trim: TrimRequest(start: start, duration: 0.8)))
            }
        }
        let verdict = try verdict(outputs)
        #expect(verdict == "")
    }

    private borrowing func check(
        _ source: URL, _ profile: Profile, _ request: RenditionRequest = RenditionRequest()
    ) throws {
        let name = source.lastPathComponent
        let label = "\(name).\(profile.name).\(request.trim?.start ?? 0)"
        let rendered: Rendered
        do {
            rendered = try render(source, as: label, profile, request)
        } catch {
            Issue.record("\(label): \(error)")
            return
        }
        #expect(!Self.words(rendered).contains("SATCHEL-CANARY"), "\(name): \(Self.words(rendered))")
        #expect(rendered.reports.map(\.role) == rendered.probeResult.planned, "\(label)")
    }

    @Test(arguments: ["pictures", "clips"])
    func `the judge finds what it looks for`(group: String) throws {
        // Every source is a file that says too much.
        let (sources, places) = try (group == "clips" ? Self.clips : Self.pictures).get()
        let complaints = try verdict(sources)
        for name in places.keys {
            #expect(complaints.contains("\(name): "), "\(name)")
        }
    }

    @Test(arguments: [[MediaKind.image, .animation], [.audio, .video]])
    func `no rendition of any sample says more than its picture and sound`(kinds: [MediaKind]) throws {
        let samples = try MediaManifest.load().files.filter { sample in
            sample.expect.state == "delivered" && sample.expect.kind.map(kinds.contains) == true
        }
        #expect(samples.count > 60)
        // Of every folder some.
        let folders = Dictionary(grouping: samples) { $0.path.prefix { $0 != "/" } }
        for sample in folders.values.flatMap({ Sweep.of($0, every: 5) }) {
            let name = sample.path.replacing("/", with: "-")
            #expect(throws: Never.self, "\(sample.path)") { try put(try Rendered.sample(sample.path), as: name) }
        }
        let verdict = try verdict(outputs)
        #expect(verdict == "")
    }
}
