import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What becomes of the clips in `Media/`.
@Suite struct ClipSampleTests {
    @Test func `each sample of a clip loses what the manifest expects it to lose, or is refused as it expects`() throws
    {
        let samples = try MediaManifest.load().files.filter {
            [.audio, .video].contains($0.expect.kind) && $0.expect.state != "skipped"
        }
        #expect(samples.count > 90)
        for sample in samples {
            do {
                let made = try Rendered.sample(sample.path)
                #expect(sample.expect.state == "delivered", "\(sample.path)")
                #expect(made.probeResult.kind == sample.expect.kind && made.probeResult.type == sample.expect.type)
                let losses = made.ending.losses.map(\.text)
                #expect((sample.expect.fidelity == .reduced) == !losses.isEmpty, "\(sample.path): \(losses)")
                #expect((losses + made.ending.changes.map(\.text)).allSatisfy { $0.count <= 200 && !$0.hasSuffix(".") })
            } catch let error as AttachmentError {
                #expect(error.code == sample.expect.code, "\(sample.path): \(error)")
            }
        }
    }
}
