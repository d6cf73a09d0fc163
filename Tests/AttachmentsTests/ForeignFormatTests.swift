import Foundation
import TestSupport
import Testing

@testable import Attachments

/// The table of what is known and not taken.
@Suite struct ForeignFormatTests {
    @Test func `each is told by something, has a name of its own and says what to do`() {
        #expect(Set(ForeignFormat.all.map(\.name)).count == ForeignFormat.all.count)
        for format in ForeignFormat.all {
            #expect(!format.types.isEmpty || !format.signs.isEmpty, "\(format.name)")
            #expect(format.kind != .other || !format.types.isEmpty, "\(format.name)")
            #expect(
                format.signs.allSatisfy { !$0.isEmpty && $0.map(\.bytes.count).reduce(0, +) >= 3 }, "\(format.name)")
            #expect(format.advice.hasSuffix(".") && !format.name.hasSuffix("."), "\(format.name)")
            #expect(format.refusal.message.count < 200, "\(format.refusal.message)")
        }
        let types = ForeignFormat.all.flatMap(\.types)
        #expect(Set(types).count == types.count)
    }

    @Test func `none stands for a type that is taken`() {
        for format in ForeignFormat.all {
            for type in format.types { #expect(MediaType(declared: type) == nil, "\(format.name): \(type)") }
        }
    }

    @Test func `no sample that is taken begins like one`() throws {
        for sample in try MediaManifest.load().files where sample.expect.state == "delivered" {
            let head = try #require(try FileHandle(forReadingFrom: sample.url).read(upToCount: 64 << 10))
            #expect(ForeignFormat(head: Array(head)) == nil, "\(sample.path)")
        }
    }

    @Test func `what libmagic calls media and nobody knows is refused, and no text is`() {
        #expect(
            ForeignFormat.refusal(sniffed: "image/x-award-bioslogo")
                == .unsupportedFeature(
                    reason: "it looks like image/x-award-bioslogo, which is not taken",
                    advice: "Convert it to JPEG or PNG."))
        for type in ["text/plain", "application/octet-stream", "application/x-dbf", "image/png"] {
            #expect(ForeignFormat.refusal(sniffed: type) == .unrecognizedType(sniffed: type))
        }
    }
}
