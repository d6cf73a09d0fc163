import Foundation
import TestSupport
import Testing

@testable import SatchelCore

/// The tables of readers and writers fit each other, and nobody keeps one beside them.
@Suite struct FormatTableTests {
    @Test func `every type is read by one reader of pictures or of containers, which knows it`() {
        for format in FileFormat.all {
            #expect((format.picture == nil) != (format.container == nil), "\(format.name)")
            if let picture = format.picture {
                #expect(picture.type == format.type || picture.typesByCoding.values.contains(format.type))
            }
            if let container = format.container {
                let types = [container.types, container.typesWithoutBrand] + container.typesByBrand.map(\.types)
                #expect(types.contains { $0.pictures == format.type || $0.audio == format.type })
                for type in types.flatMap({ [$0.pictures, $0.audio] }) { #expect(type.format.container == container) }
            }
        }
    }

    @Test func `what libmagic says stands for one reader`() {
        let sniffed = PictureFormat.all.flatMap(\.sniffed) + ContainerFormat.all.flatMap(\.sniffed)
        #expect(Set(sniffed).count == sniffed.count)
        for format in PictureFormat.all {
            #expect(!format.sniffed.isEmpty && format.sniffed.allSatisfy { PictureFormat(sniffed: $0) == format })
        }
        for format in ContainerFormat.all {
            #expect(!format.sniffed.isEmpty && format.sniffed.allSatisfy { ContainerFormat(sniffed: $0) == format })
            #expect(ContainerFormat(demuxer: "\(format.demuxer),other") == format)
        }
        #expect(PictureFormat(sniffed: "image/svg+xml") == nil && ContainerFormat(sniffed: "audio/midi") == nil)
        #expect(ContainerFormat(demuxer: "mpegvideo") == .mpeg && ContainerFormat(demuxer: "hls") == nil)
    }

    @Test(arguments: PictureFormat.all)
    func `decoding costs memory or time, and more of it for more pixels`(format: PictureFormat) {
        let (small, large) = (PixelSize(width: 100, height: 80), PixelSize(width: 200, height: 160))
        for cost in [format.cost, format.costInSeveralScans] {
            func seconds(_ size: PixelSize) -> Double { cost.seconds(Double(size.area), kept: 100) }
            #expect(seconds(small) > 0 && seconds(large) > seconds(small))
            func memory(_ size: PixelSize) -> Double { cost.memory(size, pixelBytes: 3, samples: 1.5) }
            #expect(memory(small) >= 0 && memory(large) >= memory(small))
        }
        #expect(format.animation.map { $0.nanoseconds > 0 } ?? true)
    }

    @Test func `what is written can be read again, and its levels rise`() {
        for format in FileFormat.all {
            let isWritten = format.still != nil || format.animation != nil || format.muxer != nil
            if isWritten { #expect(format.picture != nil || format.container != nil) }
            if let still = format.still {
                #expect(BoundedStill.floor(of: format.type) != nil)
                let levels = still.levels
                #expect(zip(levels, levels.dropFirst()).allSatisfy { $0.logarithm < $1.logarithm })
                #expect(levels.isEmpty || levels.contains { $0.quality == 82 && $0.logarithm == 0 })
            }
            if let animation = format.animation {
                #expect(animation.shares.first == 1)
                #expect(zip(animation.shares, animation.shares.dropFirst()).allSatisfy { $0 > $1 })
            }
        }
        #expect(Set(FileFormat.all.filter { $0.muxer != nil }.map(\.type)) == [.mp4, .m4a, .mp3, .wav])
    }

    @Test(arguments: FileFormat.all)
    func `a profile may ask for what is written, and for nothing else`(format: FileFormat) {
        func isRefused(_ key: String, _ change: (inout Profile) -> Void) -> Bool {
            var profile = Profile.notification
            change(&profile)
            return profile.problems().contains { $0.key == key }
        }
        let type = format.type
        let (isStill, isAnimation) = (format.still != nil, format.animation != nil)
        #expect(isRefused("image.types") { $0.image?.types = [type] } != isStill)
        #expect(isRefused("animation.type") { $0.animation?.type = type } != (isStill || isAnimation))
        let (isVideo, isAudio) = (type.rawValue.hasPrefix("video/"), type.rawValue.hasPrefix("audio/"))
        #expect(isRefused("video.type") { $0.video?.type = type } != (isVideo && format.muxer != nil))
        // MP3 is only copied, so another comes first.
        #expect(isRefused("audio.types") { $0.audio?.types = [.m4a, type] } != (isAudio && format.muxer != nil))
    }

    /// What may still tell formats apart in code, and why.
    private static let switches = [
        "MediaType.swift": "binds each type to its description",
        "BoundedStill.swift": "worst cases are arithmetic over a format's bytes",
        "MinimumEncodedSize.swift": "the least bytes are arithmetic over a format's bytes",
        "StillPlan.swift": "the cases are those of BoundedStill",
        "AnimationPlan.swift": "worst cases are arithmetic over a format's bytes",
        "BestAnimation.swift": "says which animations libvips reads whole, and why not the others",
        "AnnouncedSize.swift": "finds a size in the bytes of two formats whose libraries don't tell it",
        "GainMap.swift": "finds a second picture in the bytes of the two formats that have one",
        "StillDecoding.swift": "what can be saved of a damaged picture depends on its decoder",
        "FrameReader.swift": "the cases are its own two",
        "AudioRendering.swift": "the cases are codings that can be copied, and what they are copied into",
    ]

    @Test func `nothing else has a table of formats`() throws {
        let sources = Repository.root.appending(path: "Sources")
        let names = MediaType.allCases.map { "\($0)" }.joined(separator: "|")
        let pattern = try Regex("\\bcase \\.(\(names))\\b(?!\\()|\"(image|video|audio)/[a-z]")
        var found: Set<String> = []
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            // The client knows the document alone; the client's and the tables' own files are what is compared with.
            if file.path.contains("/SatchelClient/") || file.path.contains("/SatchelCore/Formats/") { continue }
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
                guard code.contains(pattern) else { continue }
                let name = file.lastPathComponent
                found.insert(name)
                #expect(Self.switches[name] != nil, "\(name) tells formats apart: \(line)")
            }
        }
        #expect(found == Set(Self.switches.keys), "these don't any more: \(Set(Self.switches.keys).subtracting(found))")
    }
}
