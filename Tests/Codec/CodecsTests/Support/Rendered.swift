import SatchelCore
import Foundation
import Synchronization
import TestSupport

@testable import ClipCodecs
@testable import StillCodecs

/// What the codec made of a source, in files that the tools can judge.
struct Rendered {
    var probeResult: ProbeResult
    var reports: [RenditionReport]
    var ending: Ending
    var files: [RenditionRole: URL]
    /// Seconds that rendering took.
    var seconds: Double

    func report(_ role: RenditionRole) -> RenditionReport? { reports.first { $0.role == role } }

    /// A codec process has one source at a time; so has this test process.
    static let turn = NSLock()

    /// Runs `source` through identify and render, as a codec process does.
    static func of(
        _ source: URL, in directory: URL, profile: Profile = .notification,
        request: RenditionRequest = RenditionRequest(), limits: Limits = .service,
        secondsLeft: Double? = nil, memory: Int64 = 1 << 30
    ) throws -> Rendered {
        turn.lock()
        defer { turn.unlock() }
        try Codec.everything.prepare()
        let order = WorkOrder(profile: profile, request: request, limits: limits)
        return try withDescriptor(source) { descriptor in
            let identified = try Codec.everything.identify(descriptor, order: order)
            let probeResult = identified.probeResult
            var files: [RenditionRole: URL] = [:]
            var outputs: [RenditionRole: Int32] = [:]
            for role in probeResult.planned {
                let file = directory.appending(path: "\(role.rawValue)-\(UUID().uuidString)")
                files[role] = file
                outputs[role] = unsafe open(file.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            }
            var reports: [RenditionReport] = []
            let command = RenderCommand(
                memory: memory, outputs: probeResult.planned, secondsLeft: secondsLeft)
            let watch = Stopwatch()
            let ending = try Codec.everything.render(identified, command: command, outputs: outputs) { report in
                reports.append(report)
                if let descriptor = outputs.removeValue(forKey: report.role) { close(descriptor) }
            }
            return Rendered(
                probeResult: probeResult, reports: reports, ending: ending, files: files, seconds: watch.seconds)
        }
    }

    /// What becomes of a sample file under a profile: made once for all tests, who leave its files as they are.
    static func sample(_ path: String, profile: Profile = .notification) throws -> Rendered {
        let sample = Sample(path: path, profile: profile)
        return try samples.withLock { samples in
            if let made = samples[sample] { return try made.get() }
            let source = Repository.media.appending(path: path)
            let made = Result { try of(source, in: samplesDirectory.get().url, profile: profile) }
            samples[sample] = made
            return try made.get()
        }
    }

    private struct Sample: Hashable {
        var path: String
        var profile: Profile
    }

    private static let samples = Mutex<[Sample: Result<Rendered, any Error>]>([:])
    private static let samplesDirectory = Result { try SharedDirectory() }

    /// The error that identifying or rendering ends with; nil where it doesn't.
    static func refusal(
        of source: URL, in directory: URL, profile: Profile = .notification, limits: Limits = .service,
        request: RenditionRequest = RenditionRequest()
    ) throws -> AttachmentError? {
        do {
            _ = try of(source, in: directory, profile: profile, request: request, limits: limits)
            return nil
        } catch let error as AttachmentError {
            return error
        }
    }

    /// What the diagnosis claims and the delivered files contradict; nil where they agree.
    var contradiction: String? {
        let diagnosis = ending.diagnosis
        let findings = diagnosis.evidence + diagnosis.omissions + diagnosis.losses + diagnosis.changes
        if let odd = findings.first(where: { !$0.isPlausible }) { return "\(odd)" }
        guard let report = report(.main), [.audio, .video].contains(probeResult.kind) else { return nil }
        let kind: Diagnosis.Track.Kind = probeResult.kind == .video ? .video : .audio
        guard report.tracks.contains(where: { $0.kind == kind }), let end = report.tracks.map(\.end).max(),
            let duration = report.duration, let source = probeResult.duration
        else { return "there is no track of its kind" }
        if abs(end - duration) >= 0.5 { return "\(end) s are there, and \(duration) s are reported" }
        let claimed = diagnosis.losses.first { $0.code == .notDecoded && $0.name == "end" }
        if let claimed, source - end < 0.02 { return "\(claimed.text), and \(end) s of \(source) s are there" }
        return nil
    }

    func path(_ role: RenditionRole) throws -> String {
        guard let file = files[role] else { throw Tool.Failure(description: "no \(role.rawValue) was made") }
        return file.path
    }

    /// `format width height` by ImageMagick, which decodes it.
    func judged(_ role: RenditionRole) throws -> String {
        try Tool.text("identify", ["-format", "%m %w %h|", try path(role) + "[0]"])
    }
}
