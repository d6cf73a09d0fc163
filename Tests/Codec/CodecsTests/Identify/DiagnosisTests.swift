import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What is found of the samples, as values, against what their recipes did to them.
@Suite struct DiagnosisTests {
    /// Findings by the list in which they stand.
    private static func found(_ sample: MediaSample) throws -> [String: [Finding]] {
        do {
            let diagnosis = try Rendered.sample(sample.path).ending.diagnosis
            return [
                "evidence": diagnosis.evidence, "omissions": diagnosis.omissions, "losses": diagnosis.losses,
                "changes": diagnosis.changes,
            ]
        } catch let error as AttachmentError {
            let bytes = Int64(try Data(contentsOf: sample.url).count)
            let told = error.ofFile(named: sample.path, declared: nil, bytes: bytes)
            return ["error": [told.finding].compactMap(\.self)]
        }
    }

    @Test func `what is found of a sample is what was done to it`() throws {
        var codes: Set<Finding.Code> = []
        for sample in try MediaManifest.load().files {
            guard let findings = sample.expect.findings else { continue }
            let found = try Self.found(sample)
            for text in findings {
                let words = text.split(separator: " ").map(String.init)
                let code = try #require(Finding.Code(rawValue: words[1]), "\(text)")
                codes.insert(code)
                let finding = found[words[0]]?.first {
                    $0.code == code && (words.count < 3 || $0.part?.rawValue == words[2])
                }
                guard let finding else {
                    Issue.record("\(sample.path): \(text) isn't in \(found)")
                    continue
                }
                guard words.count == 5, let missing = Double(words[3]), let total = Double(words[4]) else { continue }
                #expect(abs((finding.missing ?? -1) - missing) < 0.1, "\(sample.path): \(finding)")
                #expect(abs((finding.total ?? -1) - total) < 0.1, "\(sample.path): \(finding)")
            }
        }
        #expect(Set(Finding.Code.allCases).subtracting(Self.othersDecide.keys) == codes)
    }

    /// The codes that no file alone gives, with what decides instead.
    private static let othersDecide: [Finding.Code: String] = [
        .estimate: "the time left", .pace: "the time left", .timeUp: "the time left",
        .notMade: "the end of the codec process", .memory: "the memory granted",
        .failed: "a cap of the profile that the poster does not fit", .otherFrame: "the frame in the request",
        .shownOtherwise: "the profile's speed 'best'",
    ]

    @Test func `no sample is called truncated by seconds that were delivered`() throws {
        for sample in try MediaManifest.load().files where [.audio, .video].contains(sample.expect.kind) {
            guard let made = try? Rendered.sample(sample.path) else { continue }
            #expect(made.ending.diagnosis.checked == .decoded)
            #expect(made.contradiction == nil, "\(sample.path)")
        }
    }
}
