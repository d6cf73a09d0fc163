import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct ImageSamplesTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    static let pictures: [MediaSample] = {
        let files = (try? MediaManifest.load().files) ?? []
        return files.filter {
            [.image, .animation].contains($0.expect.kind) && $0.expect.state == "delivered"
        }
    }()

    static let refused: [MediaSample] = {
        let files = (try? MediaManifest.load().files) ?? []
        let images = ["png", "jpeg", "gif", "webp", "heic", "heif", "avif", "tiff", "bmp", "jxl"]
        let troubles = ["script.gif", "header-only.png", "truncated.tiff"]
        return files.filter { sample in
            guard sample.expect.state != "delivered", sample.expect.code != nil else { return false }
            return sample.expect.kind == .image || sample.expect.kind == .animation
                || troubles.contains { sample.path == "trouble/\($0)" }
                || images.contains { sample.path.hasPrefix("\($0)/") }
        }
    }()

    @Test func `the manifest has pictures and refusals`() {
        #expect(Self.pictures.count >= 60)
        #expect(Self.refused.count >= 10)
    }

    @Test(arguments: pictures)
    func `a picture becomes renditions that another decoder opens`(sample: MediaSample) throws {
        let rendered = try Rendered.sample(sample.path)
        #expect(rendered.probeResult.kind == sample.expect.kind)
        #expect(rendered.probeResult.type == sample.expect.type)
        #expect(rendered.probeResult.size?.width == sample.expect.width)
        #expect(rendered.probeResult.size?.height == sample.expect.height)
        #expect(rendered.probeResult.frames == sample.expect.frames)
        if let duration = sample.expect.duration {
            #expect(abs((rendered.probeResult.duration ?? 0) - duration) < 0.01)
        }
        #expect(rendered.reports.map(\.role) == [.thumbnail, .main])
        let expected = try rendered.reports.map { report in
            let size = try #require(report.size)
            let format = report.type == .jpeg ? "JPEG" : report.type == .png ? "PNG" : "GIF"
            return "\(format) \(size.width) \(size.height)|"
        }
        let paths = try rendered.reports.map { try rendered.path($0.role) + "[0]" }
        #expect(try Tool.text("identify", ["-format", "%m %w %h|"] + paths) == expected.joined())
        for report in rendered.reports {
            let file = try #require(rendered.files[report.role])
            #expect(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize == Int(report.bytes))
            let cap = Profile.notification.cap(of: report.role, for: rendered.probeResult.kind) ?? 0
            #expect(report.bytes <= cap)
        }
        #expect(rendered.ending.placeholder?.thumbhash != nil)
        #expect(rendered.ending.placeholder?.blurhash?.count == 28)
    }

    @Test(arguments: refused)
    func `a refused picture gets the code that the manifest says`(sample: MediaSample) throws {
        let size = try #require(sample.url.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        let error = try Rendered.refusal(of: sample.url, in: directory.url)?
            .ofFile(named: nil, declared: nil, bytes: Int64(size))
        #expect(error?.code == sample.expect.code, "\(String(describing: error))")
    }
}
