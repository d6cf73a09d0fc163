import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What only newer versions of a library read, with the version that is installed.
@Suite struct NewerFeatureTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `HEIC of the newest phones is delivered where libheif reads it, else refused by name`() throws {
        let file = directory.url.appending(path: "gain-map.heic")
        try PictureJudge.run(
            """
            sys.path.insert(0, args[0]); sys.dont_write_bytecode = True
            from recipes import heifbox
            data = heifbox.tone_mapped(open(args[0] + '/heic/alpha.heic', 'rb').read())
            open(args[1], 'wb').write(data)
            """, [Repository.media.path, file.path])
        try Codec.everything.prepare()
        let library = try #require(Codec.everything.libraries.first { $0.name == .libheif })
        // libheif's own tool, of the same version.
        let judged = try? Tool.text("heif-info", [file.path])
        #expect((judged?.contains("300x200") == true) == NewerFeature.missing(in: library).isEmpty)
        if judged == nil {
            let error = try Rendered.refusal(of: file, in: directory.url)
            #expect(error?.code == .unsupportedFeature)
            #expect(error?.message.contains("HEIC of the newest phones needs libheif") == true)
        } else {
            let picture = directory.url.appending(path: "judged.png").path
            try Tool.run("heif-convert", [file.path, picture])
            let ours = try Rendered.of(file, in: directory.url, profile: PictureJudge.lossless(side: 300)).path(.main)
            let difference = try #require(try PictureJudge.differences([(ours, picture)]).first)
            // One of two ways from YCbCr to RGB.
            #expect(difference.most <= 3 && difference.alpha == 0, "\(difference)")
        }
    }

    @Test func `every library says its version`() throws {
        try Codec.everything.prepare()
        let libraries = Codec.everything.libraries
        #expect(libraries.map(\.name) == CodecLibrary.Name.allCases)
        for library in libraries { #expect(library.isAtLeast("0.1"), "\(library)") }
        let vips = try Tool.text("vips", ["--version"])
        #expect(vips.contains(libraries[0].version))
        let ffmpeg = try Tool.text("ffmpeg", ["-version"])
        #expect(ffmpeg.contains(libraries[1].version))
    }

    @Test func `an option or an operation that libvips lacks is named, and isn't called a crash or damage`() throws {
        let said = try Program.tool("vips").run(
            ["copy", Repository.media.appending(path: "png/alpha.png").path, directory.url.path + "/o.png[newest=1]"])
        for text in [said.errorText, "VipsOperation: class \"newestload\" not found\n"] {
            let failure = VipsFailure(text: text)
            for error in [failure.lack, failure.damage(of: "PNG")] {
                #expect(error?.code == .unsupportedFeature && error?.message.contains("newest") == true, "\(text)")
            }
        }
        #expect(VipsFailure(text: "pngload: end of stream").lack == nil)
    }
}
