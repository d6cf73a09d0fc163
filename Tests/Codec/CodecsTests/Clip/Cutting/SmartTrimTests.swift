import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Cuts of which only the edges are encoded, judged by decoders that share no code.
@Suite struct SmartTrimTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func make(_ name: String, _ arguments: String) throws -> URL {
        let file = directory.url.appending(path: name)
        _ = Self.made
        try Tool.ffmpeg(CountedClips.inputs + Self.words(arguments), to: file)
        return file
    }

    private static func words(_ arguments: String) -> [String] {
        "-c:v libx264 -preset veryfast -sc_threshold 0 -pix_fmt yuv420p \(arguments) -an".split(separator: " ")
            .map(String.init)
    }

    /// At once; one by one where that fails.
    private static let made: Void = {
        try? Tool.prepare(CountedClips.inputs, sources.map { (words($0.arguments), $0.name) })
    }()

    private borrowing func luma(of url: URL, threads: Int) throws -> Data {
        let output = directory.url.appending(path: "\(UUID().uuidString).gray")
        try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-xerror", "-threads", "\(threads)", "-i", url.path, "-vsync", "passthrough", "-vf",
                "extractplanes=y", "-f", "rawvideo", output.path,
            ])
        return try Data(contentsOf: output)
    }

    private static func cut(_ url: URL, _ trim: TrimRequest) throws -> RenderedClip {
        var profile = Profile.message
        profile.thumbnail = nil
        profile.video?.poster = nil
        return try #require(try Clips.render(url, profile: profile, request: RenditionRequest(trim: trim)))
    }

    static let sources: [(name: String, arguments: String)] = [
        ("high.mp4", "-g 25 -bf 3 -x264-params b-adapt=0:b-pyramid=0"),
        ("pyramid.mkv", "-g 25 -bf 3 -refs 4 -x264-params b-adapt=0:b-pyramid=normal"),
        ("main.mov", "-profile:v main -g 20 -bf 2 -x264-params b-adapt=0"),
        ("baseline.ts", "-profile:v baseline -g 25 -refs 2"),
        ("sliced.mp4", "-g 25 -bf 2 -x264-params slices=3:b-adapt=0"),
        ("coloured.mp4", "-g 25 -bf 2 -color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range pc"),
        ("wide.mp4", "-g 25 -bf 2 -vf setsar=4/3"),
        ("buffered.ts", "-g 25 -bf 2 -maxrate 2M -bufsize 1M -x264-params nal-hrd=vbr:aud=1:sps-id=3"),
    ]

    @Test(arguments: sources)
    func `decoders that share no code show the same pictures over the seams, and those of the source between them`(
        name: String, arguments: String
    ) throws {
        let source = try make(name, arguments)
        let whole = try luma(of: source, threads: 1)
        for (first, count) in Sweep.of([(12, 50), (31, 47), (12, 40)], every: 3, from: name.utf8.count) {
            let made = try Self.cut(
                source, TrimRequest(start: Double(first) / 25, duration: Double(count) / 25))
            let note = made.report(.main)?.note ?? ""
            #expect(made.ending.trim?.method == .smart, "\(name): \(note)")
            let main = try #require(made.main)
            let pictures = try luma(of: main, threads: 1)
            #expect(pictures == (try luma(of: main, threads: 4)), "\(name)")
            let size = 160 * 120
            let shown = pictures.count / size
            try compare(pictures, with: try OpenH264.luma(of: main, in: directory.url), main, name)
            #expect(abs(shown - count) <= 1, "\(name): \(shown)")
            var same = 0
            for index in 0..<shown {
                let picture = pictures[index * size..<(index + 1) * size]
                let original = whole[(first + index) * size..<(first + index + 1) * size]
                if picture == original {
                    same += 1
                } else {
                    #expect(Self.noise(picture, original) > 32, "\(name) \(index)")
                }
            }
            // All but the edges are the source's, bit by bit.
            let copied = Int(note.prefix { $0 != " " })
            #expect(same == copied, "\(name): \(note)")
            #expect(try Probe.decodingErrors(main) == "")
        }
    }

    /// Of any stream with pictures that are reordered, OpenH264 2.3.1 overwrites the last one before a refresh or before the
    /// end while it still waits, and predicts some others not quite as the standard says: the former are left out, and the
    /// latter may be off a little.
    private borrowing func compare(_ pictures: Data, with other: Data, _ file: URL, _ name: String) throws {
        let frames = try Tool.text(
            "ffprobe",
            ["-v", "error", "-show_entries", "frame=key_frame,pict_type", "-of", "csv=p=0", file.path]
        ).split(separator: "\n")
        let isReordered = frames.contains { $0.contains("B") }
        #expect(other.count == pictures.count, "\(name)")
        #expect(pictures.count == frames.count * 19_200)
        var compared = 0
        for index in frames.indices {
            let next = frames[min(index + 1, frames.count - 1)]
            if isReordered && (next.hasPrefix("1") || index + 2 >= frames.count) { continue }
            let range = index * 19_200..<(index + 1) * 19_200
            if isReordered {
                #expect(
                    CountedClips.number(of: pictures[range]) == CountedClips.number(of: other[range]),
                    "\(name): \(index)")
                #expect(Self.noise(pictures[range], other[range]) > 28, "\(name): \(index)")
            } else {
                #expect(pictures[range] == other[range], "\(name): \(index)")
            }
            compared += 1
        }
        #expect(compared > frames.count - 7)
    }

    /// Peak signal to noise, in decibels.
    private static func noise(_ one: Data, _ other: Data) -> Double {
        var sum = 0
        for (a, b) in zip(one, other) {
            let difference = Int(a) - Int(b)
            sum += difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(one.count) / Double(sum))
    }

    @Test func `all parameter sets stand before the pictures, and agree in all that a decoder is set up by`() throws {
        let source = try make(
            "source.ts", "-g 25 -bf 3 -x264-params b-adapt=0 -color_primaries bt709 -colorspace bt709")
        let made = try Self.cut(source, TrimRequest(start: 0.48, duration: 2))
        #expect(made.ending.trim?.method == .smart)
        let main = try #require(made.main)
        let trace = try Tool.text(
            "sh",
            [
                "-c", "ffmpeg -v trace -i \"$0\" -map 0:v -c copy -bsf:v trace_headers -f null - 2>&1", main.path,
            ])
        var values: [String: Set<String>] = [:]
        var sets = 0
        var isInExtradata = false
        var hasOthers = false
        for line in trace.split(separator: "\n") where line.contains("trace_headers") {
            if line.hasSuffix("Extradata") { isInExtradata = true }
            if line.hasSuffix("] Packet") || line.contains("Packet: ") { isInExtradata = false }
            if line.hasSuffix("Sequence Parameter Set") {
                sets += 1
                if !isInExtradata { hasOthers = true }
            }
            let fields = line.split(separator: "]").last?.split(separator: " ") ?? []
            guard fields.count >= 4, let name = fields.dropFirst().first, let value = fields.last else { continue }
            values[String(name), default: []].insert(String(value))
        }
        #expect(sets == 2)
        #expect(!hasOthers)
        #expect(values["seq_parameter_set_id"]?.count == 2)
        for name in [
            "profile_idc", "level_idc", "pic_width_in_mbs_minus1", "pic_height_in_map_units_minus1",
            "frame_mbs_only_flag",
            "max_num_reorder_frames", "max_dec_frame_buffering", "colour_primaries", "matrix_coefficients",
            "num_units_in_tick", "time_scale",
        ] { #expect(values[name]?.count == 1, "\(name): \(values[name] ?? [])") }
    }

    @Test(
        arguments: [
            ("open.mkv", "-g 25 -bf 3 -x264-params open-gop=1", "no keyframe after it is clean"),
            ("long.mp4", "-g 250", "no keyframe after it is clean"),
            ("late.mp4", "-g 60", "most of it lies outside of clean cuts"),
        ])
    func `what can't be cut cleanly is encoded, and the reason is told`(
        name: String, arguments: String, reason: String
    ) throws {
        let made = try Self.cut(try make(name, arguments), TrimRequest(start: 0.48, duration: 2.4))
        #expect(made.ending.trim?.method == .encode)
        let note = made.report(.main)?.note ?? ""
        #expect(note.contains(reason), "\(note)")
    }

    @Test func `parameter sets without a word about reordering are not mixed with others`() throws {
        let unit = try Self.sequence(of: try make("source.h264", "-g 25 -bf 2 -f h264"))
        var parameters = try #require(SequenceParameters(unit: unit))
        parameters.usability?.restriction = nil
        let picture: [UInt8] = [0x68, 0xee, 0x3c, 0x80]
        func reason(_ parameters: SequenceParameters) throws -> String? {
            let configuration: [UInt8] = [0, 0, 0, 1] + parameters.unit + [0, 0, 0, 1] + picture
            let sets = unsafe configuration.withUnsafeBufferPointer { unsafe ParameterSets(configuration: $0) }
            switch EdgeSettings.make(try #require(sets), rateFactor: 20, preset: "veryfast") {
            case .success: return nil
            case .failure(let refusal): return refusal.reason
            }
        }
        #expect(try reason(parameters) == "its parameter sets don't say how far its pictures are reordered")
        parameters.orderType = 2
        #expect(try reason(parameters) == nil)
        parameters.profile = 110
        #expect(try reason(parameters) == "its profile 110 is none that can be matched")
        parameters.profile = 100
        parameters.hasOnlyFrames = false
        #expect(try reason(parameters) == "it is coded in fields")
    }

    private static func sequence(of stream: URL) throws -> [UInt8] {
        let bytes = try [UInt8](Data(contentsOf: stream))
        let sets = unsafe bytes.withUnsafeBufferPointer { unsafe ParameterSets(configuration: $0) }
        return try #require(sets?.sequences.first)
    }

    @Test(
        arguments: [
            "-g 25 -bf 3", "-profile:v baseline", "-profile:v main -refs 5", "-vf scale=146:82,setsar=10/11",
            "-color_range pc -color_primaries bt470bg -colorspace bt470bg -color_trc gamma28",
            "-r 30000/1001 -x264-params force-cfr=1:overscan=show:videoformat=pal:chromaloc=2:sps-id=7",
        ])
    func `a parameter set that is read and written is the same, byte by byte`(arguments: String) throws {
        let unit = try Self.sequence(of: try make("source.h264", "\(arguments) -f h264"))
        #expect(SequenceParameters(unit: unit)?.unit == unit)
    }

    @Test func `parameter sets of any bytes at all are read without harm`() {
        var generator = SeededGenerator()
        for _ in 0..<20_000 {
            var unit: [UInt8] = [0x67, [66, 77, 100].randomElement(using: &generator) ?? 66, 0, 30]
            unit += (0..<Int.random(in: 1...40, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
            if let read = SequenceParameters(unit: unit) {
                #expect(SequenceParameters(unit: read.unit)?.unit == read.unit)
            }
            unit[0] = .random(in: 0...1, using: &generator)
            let sets = unsafe unit.withUnsafeBufferPointer { unsafe ParameterSets(configuration: $0) }
            if let sets {
                #expect(!sets.configuration.isEmpty)
                _ = sets.freeIdentifier
            }
        }
    }
}
