import SatchelCore
import Foundation
import Synchronization
import TestSupport

@testable import ClipCodecs
@testable import StillCodecs

/// A clip that was rendered, and what is left of it: the files, by role.
struct RenderedClip {
    var probeResult: ProbeResult
    var reports: [RenditionReport]
    var ending: Ending
    var files: [RenditionRole: URL]

    func report(_ role: RenditionRole) -> RenditionReport? { reports.first { $0.role == role } }
    var main: URL? { report(.main) == nil ? nil : files[.main] }

    /// A rendition that was made.
    func file(_ role: RenditionRole) throws -> URL {
        guard report(role) != nil, let file = files[role] else {
            throw Tool.Failure(description: "no \(role.rawValue) was made")
        }
        return file
    }

    /// The pictures of a rendition, by ffprobe.
    func pictures(_ role: RenditionRole = .main) throws -> Probe.Stream {
        guard let stream = try Probe.of(file(role)).video else { throw Tool.Failure(description: "no pictures") }
        return stream
    }

    /// The sound of the main rendition, by ffprobe.
    func audio() throws -> Probe.Stream {
        guard let stream = try Probe.of(file(.main)).audio else { throw Tool.Failure(description: "no sound") }
        return stream
    }
}

enum Clips {
    /// libmagic's word for a file.
    static func sniff(_ url: URL) throws -> String {
        try Sniffer.prepare()
        return try withDescriptor(url) { try Sniffer.sniff($0).type }
    }

    /// What the codec finds; nil where it is neither sound nor video.
    static func probeResult(
        _ url: URL, profile: Profile = .notification, trim: TrimRequest? = nil, limits: Limits = .service
    ) throws -> ProbeResult? {
        let sniffed = try sniff(url)
        let order = WorkOrder(profile: profile, request: RenditionRequest(trim: trim), limits: limits)
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        return try withDescriptor(url) { descriptor in
            guard let clip = try Clip.open(descriptor, sniffed: sniffed, order: order) else { return nil }
            return clip.probeResult
        }
    }

    /// Opens and renders all that is planned into files beside the source.
    static let isReady: Void = { try? Codec.everything.prepare() }()

    static func render(
        _ url: URL, profile: Profile = .notification, request: RenditionRequest = RenditionRequest(),
        sniffed: String? = nil
    ) throws -> RenderedClip? {
        let sniffed = try sniffed ?? sniff(url)
        let order = WorkOrder(profile: profile, request: request)
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        _ = isReady
        return try withDescriptor(url) { source in
            guard let clip = try Clip.open(source, sniffed: sniffed, order: order) else { return nil }
            var outputs: [RenditionRole: Int32] = [:]
            var files: [RenditionRole: URL] = [:]
            defer { outputs.values.forEach { close($0) } }
            let planned = clip.probeResult.planned
            for role in planned {
                let file = url.deletingLastPathComponent()
                    .appending(path: "\(url.lastPathComponent).\(UUID().uuidString.prefix(8)).\(role.rawValue)")
                files[role] = file
                outputs[role] = unsafe open(file.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            }
            var reports: [RenditionReport] = []
            var ending = try clip.render(
                command: RenderCommand(memory: 1 << 30, outputs: planned), outputs: outputs
            ) { report in
                reports.append(report)
            }
            ending.diagnosis = clip.probeResult.diagnosis.decoded(ending.diagnosis)
            return RenderedClip(probeResult: clip.probeResult, reports: reports, ending: ending, files: files)
        }
    }
}

extension Clips {
    /// Has an MP4's pictures turned by a multiple of 90° where they are shown; FFmpeg 5.1 and 7.1 are asked for that in
    /// different words.
    static func turn(_ url: URL, clockwise degrees: Int) throws {
        var data = try Data(contentsOf: url)
        var from = data.startIndex
        while let name = data.range(of: Data("tkhd".utf8), in: from..<data.endIndex) {
            from = name.upperBound
            // Of version 0: 40 bytes, nine numbers, then the sides, which are 0 of sound.
            guard data.count >= from + 84, data[from + 76..<from + 84].contains(where: { $0 != 0 }) else { continue }
            let quarters = degrees / 90 & 3
            let (cosine, sine): (Int32, Int32) = ([1, 0, -1, 0][quarters], [0, 1, 0, -1][quarters])
            let matrix = [cosine << 16, sine << 16, 0, -sine << 16, cosine << 16, 0, 0, 0, 1 << 30]
            let bytes = matrix.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
            data.replaceSubrange(from + 40..<from + 76, with: bytes)
            try data.write(to: url)
            return
        }
        throw Tool.Failure(description: "\(url.lastPathComponent) has no pictures to turn")
    }

    /// How long an MP4 lasts by its movie header, of version 0.
    static func movieSeconds(_ url: URL) throws -> Double {
        let data = try Data(contentsOf: url)
        guard let name = data.range(of: Data("mvhd".utf8)), data.count >= name.upperBound + 20 else {
            throw Tool.Failure(description: "\(url.lastPathComponent) has no header")
        }
        func number(_ offset: Int) -> Double {
            Double(data[(name.upperBound + offset)...].prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }
        return number(16) / number(12)
    }
}

/// What ffprobe says of a file.
struct Probe: Decodable {
    struct Stream: Decodable {
        var codecName: String?
        var codecType: String
        var profile: String?
        var width: Int?
        var height: Int?
        var pixFmt: String?
        var channels: Int?
        var sampleRate: String?
        var startTime: String?
        var duration: String?
        var tags: [String: String]?
        var sampleAspectRatio: String?
        var colorRange: String?
        var colorSpace: String?
        var colorTransfer: String?
        var colorPrimaries: String?
        var nbReadFrames: String?
        var sideDataList: [SideData]?
    }
    struct SideData: Decodable {
        var rotation: Double?
    }
    struct Format: Decodable {
        var duration: String?
        var formatName: String
        var tags: [String: String]?
    }
    struct Frame: Decodable {
        var ptsTime: String?
        var pktDurationTime: String?
    }
    struct Chapter: Decodable {}
    var streams: [Stream]
    var format: Format
    var chapters: [Chapter]?
    var frames: [Frame]?

    var video: Stream? { streams.first { $0.codecType == "video" } }
    var audio: Stream? { streams.first { $0.codecType == "audio" } }
    var duration: Double { Double(format.duration ?? "") ?? -1 }

    /// What it said of a file, by the file's path, size and time, and by whether frames were asked for.
    private static let known = Mutex<[String: Probe]>([:])

    /// Asks once, as long as the file stays as it is.
    static func of(_ url: URL, frames: Bool = false) throws -> Probe {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        let written = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        let name = "\(url.path) \(attributes[.size] ?? 0) \(written) \(frames)"
        if let probe = known.withLock({ $0[name] }) { return probe }
        let probe = try asked(url, frames: frames)
        known.withLock { $0[name] = probe }
        return probe
    }

    private static func asked(_ url: URL, frames: Bool) throws -> Probe {
        var arguments = ["-v", "error", "-of", "json", "-show_streams", "-show_format", "-show_chapters"]
        if frames { arguments += ["-show_frames", "-select_streams", "v:0"] }
        let data = try Tool.run("ffprobe", arguments + [url.path])
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Probe.self, from: data)
    }

    /// What an independent full decode complains about; empty where all is well.
    static func decodingErrors(_ url: URL) throws -> String {
        try complaints(["-i", url.path, "-f", "null", "-"])
    }

    /// The same of each of many: by one process, unless it complains of one.
    static func decodingErrors(_ urls: [URL]) throws -> [String] {
        let inputs = urls.flatMap { ["-i", $0.path] }
        let outputs = urls.indices.flatMap { ["-map", "\($0):v:0?", "-map", "\($0):a:0?", "-f", "null", "-"] }
        if try urls.isEmpty || complaints(inputs + outputs).isEmpty { return urls.map { _ in "" } }
        return try urls.map { url in try decodingErrors(url) }
    }

    private static func complaints(_ arguments: [String]) throws -> String {
        try Tool.text("sh", ["-c", "ffmpeg -v warning -xerror \"$@\" 2>&1 || echo failed", "sh"] + arguments)
    }
}
