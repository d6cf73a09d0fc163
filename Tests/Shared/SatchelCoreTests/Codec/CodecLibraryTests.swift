import SatchelCore
import Testing

@Suite struct CodecLibraryTests {
    /// In the order in which they came.
    private static let versions = [
        "", "unknown", "0.7", "0.11.2", "1.2.9", "1.15.1", "1.18", "1.18.0", "1.19.7~bpo12+1", "5.1.9-0+deb12u1",
        "7.1.5-0+deb13u1", "10.0",
    ]

    @Test func `versions compare by their numbers, whatever is behind them`() {
        for (index, newer) in Self.versions.enumerated() {
            for older in Self.versions[...index] {
                #expect(CodecLibrary(.libheif, version: newer).isAtLeast(older), "\(newer) and \(older)")
            }
            for later in Self.versions[(index + 1)...] where !later.hasPrefix(newer) && later.first?.isNumber == true {
                #expect(!CodecLibrary(.libheif, version: newer).isAtLeast(later), "\(newer) and \(later)")
            }
        }
    }

    @Test(arguments: NewerFeature.all)
    func `what a library doesn't read is missing until it does, and refused by name where it complains`(
        feature: NewerFeature
    ) throws {
        #expect(NewerFeature.missing(in: CodecLibrary(feature.library, version: "0.1")).contains(feature))
        #expect(!NewerFeature.missing(in: CodecLibrary(feature.library, version: feature.since)).contains(feature))
        for message in feature.messages {
            #expect(NewerFeature.refusal(of: "Invalid input: \(message.uppercased())") == feature.refusal)
        }
        #expect(feature.refusal.code == .unsupportedFeature)
        #expect(
            feature.refusal.message.lowercased().contains(feature.subject.lowercased())
                && feature.refusal.message.count <= 200)
        #expect(NewerFeature.refusal(of: "Invalid input: no item data") == nil)
    }
}
