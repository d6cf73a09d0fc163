import SatchelCore
import Foundation
import TestSupport
import Testing

/// What the table of formats names is there: operations of libvips, and demuxers, decoders and muxers of FFmpeg.
@Suite struct FormatTests {
    @Test func `every operation that a format names is one of libvips', of a class that is allowed for it`() throws {
        // VipsForeignLoadJpegSource (jpegload_source), load jpeg from source, …
        let lines = try Tool.text("vips", ["-l"]).split(separator: "\n").map { $0.drop { $0 == " " } }
        let classes = lines.compactMap { $0.split(separator: " ").first.map(String.init) }
        var operations = PictureFormat.all.compactMap(\.loader)
        operations += FileFormat.all.compactMap(\.still?.saver) + FileFormat.all.compactMap(\.animation?.saver)
        #expect(operations.count >= 10)
        for operation in operations {
            let owner = lines.first { $0.contains("(\(operation.name))") }?.split(separator: " ").first
            let name = try #require(owner.map(String.init), "\(operation.name)")
            #expect(operation.families.contains { name.hasPrefix($0) && classes.contains($0) }, "\(name)")
        }
    }

    /// FFmpeg's lists, each asked for once.
    private static let lists = ["codecs", "decoders", "demuxers", "muxers"].reduce(into: [:]) { lists, name in
        lists[name] = Result { try Tool.text("ffmpeg", ["-v", "error", "-\(name)"]).split(separator: "\n") }
    }

    private func lines(_ list: String) throws -> [Substring] { try #require(Self.lists[list]).get() }

    /// The second words of one of FFmpeg's lists, which may be several names.
    private func names(_ list: String) throws -> Set<String> {
        let lines = try lines(list)
        let words = lines.compactMap { $0.split(separator: " ").dropFirst().first }
        return Set(words.flatMap { $0.split(separator: ",").map(String.init) })
    }

    @Test func `every container has its demuxer, and what is written its muxer`() throws {
        let demuxers = try names("demuxers")
        #expect(ContainerFormat.all.count >= 14)
        for format in ContainerFormat.all {
            for name in [format.demuxer] + format.otherDemuxers { #expect(demuxers.contains(name)) }
        }
        let muxers = try names("muxers")
        let written = FileFormat.all.compactMap(\.muxer)
        #expect(!written.isEmpty && muxers.isSuperset(of: written))
    }

    @Test(arguments: Coding.all.filter { !$0.decoders.isEmpty })
    func `a coding that is taken is FFmpeg's, and its decoders decode it`(coding: Coding) throws {
        // DEV.LS h264  H.264 / AVC (decoders: h264 h264_v4l2m2m ) (encoders: libx264 )
        let line = try lines("codecs").first {
            $0.split(separator: " ").dropFirst().first == Substring(coding.identifier)
        }
        let words = String(try #require(line))
        let listed = words.firstMatch(of: /\(decoders: ([^)]*)\)/)?.output.1.split(separator: " ").map(String.init)
        let decoders = listed ?? [coding.identifier]
        #expect(!Set(coding.decoders).isDisjoint(with: decoders), "\(words)")
        // One that isn't this coding's would be used for whatever it is.
        let known = try names("decoders")
        for name in coding.decoders where known.contains(name) { #expect(decoders.contains(name), "\(name)") }
    }

    @Test func `no two codings share a name of FFmpeg's, a decoder or a tag`() {
        for names in [
            Coding.all.map(\.identifier), Coding.all.flatMap(\.decoders), Coding.all.flatMap(\.tags),
            Coding.all.flatMap(\.transportTypes).map { "\($0)" },
        ] {
            #expect(Set(names).count == names.count)
        }
    }
}
