import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What is told before anything is made, against what then is made, over all of Media.
@Suite struct ForecastTests {
    /// A sample, and under which profile and request it is made.
    struct Case: Hashable, Sendable, CustomTestStringConvertible {
        var path: String
        var profile: Profile
        var request = RenditionRequest()

        var testDescription: String {
            "\(path) under \(profile.name)\(request == RenditionRequest() ? "" : ", as asked")"
        }
    }

    static let cases: [Case] = {
        guard let manifest = try? MediaManifest.load() else { return [] }
        // What lies in its packets only decoding tells: damaged pictures aren't copied.
        let samples = manifest.files.filter { $0.expect.state == "delivered" && $0.path != "trouble/lost-cluster.mkv" }
            .map(\.path)
        let plain =
            samples.map { Case(path: $0, profile: .notification) }
            + Sweep.of(samples, every: 6).map { Case(path: $0, profile: .message) }
        let crops: [Crop] = [
            .rect(UnitRect(x: 0.1, y: 0.2, width: 0.5, height: 0.6)), .focalPoint(x: 0.25, y: 0.8), .attention,
        ]
        let cropped = ["jpeg/orientation-6.jpg", "png/alpha.png", "gif/film.gif"].flatMap { path in
            crops.map { Case(path: path, profile: .avatar, request: RenditionRequest(crop: $0)) }
        }
        let trims = [(1.0, 2.0), (0.52, 1.9)].map { TrimRequest(start: $0, duration: $1) }
        let trimmed = ["mp4/long.mp4", "mp4/film.mp4", "mp3/voice.mp3", "wav/voice.wav", "mkv/film.mkv"].flatMap {
            path in
            trims.map { Case(path: path, profile: .message, request: RenditionRequest(trim: $0)) }
        }
        return plain + (cropped + trimmed).filter { samples.contains($0.path) }
    }()

    @Test(arguments: cases)
    func `what is forecast is what is made`(_ sample: Case) throws {
        let directory = try TemporaryDirectory()
        let source = Repository.media.appending(path: sample.path)
        let forecasts = try forecasts(of: source, sample)
        let made: Rendered
        do {
            made =
                try sample.request == RenditionRequest()
                ? Rendered.sample(sample.path, profile: sample.profile)
                : Rendered.of(source, in: directory.url, profile: sample.profile, request: sample.request)
        } catch let error as AttachmentError {
            // Under the other profiles some samples are refused, but then at once.
            #expect(forecasts == nil, "\(error)")
            return
        }
        let told = try #require(forecasts, "it is refused, and then made")
        #expect(told.map(\.role) == made.probeResult.planned)
        for forecast in told {
            guard let report = made.report(forecast.role) else { continue }
            let which = "\(forecast.role.rawValue): forecast '\(forecast.note)', made '\(report.note)'"
            let isOpen = forecast.note.contains("PNG if")
            #expect(forecast.type == report.type || isOpen, "\(which)")
            if forecast.size != nil || report.role != .thumbnail { #expect(forecast.size == report.size, "\(which)") }
            if let method = forecast.method {
                let isCopied = report.note.hasPrefix("copied") || report.note.hasPrefix("samples copied")
                let told = made.ending.trim?.method ?? (isCopied ? .copy : .encode)
                #expect(method == told, "\(which)")
            }
            #expect(forecast.duration.map { abs($0 - (report.duration ?? -1)) < 0.1 } ?? true, "\(which)")
            #expect(!forecast.note.isEmpty && forecast.note.count <= 200, "\(forecast.note)")
            #expect(!report.note.isEmpty && report.note.count <= 200, "\(report.note)")
        }
    }

    /// Nil where the source is refused.
    private func forecasts(of source: URL, _ sample: Case) throws -> [Forecast]? {
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        try Codec.everything.prepare()
        let order = WorkOrder(profile: sample.profile, request: sample.request, wantsForecasts: true)
        return try withDescriptor(source) { descriptor in
            do throws(AttachmentError) {
                return try Codec.everything.identify(descriptor, order: order).probeResult.forecasts
            } catch {
                return nil
            }
        }
    }
}
