import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Work that has a deadline far enough away is the same work.
@Suite struct HurryTests {
    /// One of each type, the first of each directory.
    private static let samples = {
        let files = (try? MediaManifest.load().files) ?? []
        let good = files.filter {
            $0.expect.state == "delivered" && ($0.expect.kind == .image || $0.expect.kind == .animation)
        }
        return Dictionary(grouping: good) { $0.path.prefix { $0 != "/" } }.values.compactMap { $0.first?.path }.sorted()
    }()

    @Test(arguments: samples)
    func `an hour left changes not one byte`(path: String) throws {
        let directory = try TemporaryDirectory()
        let file = Repository.media.appending(path: path)
        let calm = try Rendered.sample(path)
        let hurried = try Rendered.of(file, in: directory.url, secondsLeft: 3600)
        #expect(calm.reports.count == hurried.reports.count && !calm.reports.isEmpty)
        for (before, after) in zip(calm.reports, hurried.reports) {
            #expect(before.note == after.note && after.haste == nil)
            let bytes = try [calm, hurried].map {
                try Data(contentsOf: URL(filePath: try $0.path(before.role)))
            }
            #expect(bytes[0] == bytes[1], "\(before.role.rawValue) differs")
        }
        #expect(calm.ending == hurried.ending)
    }

    @Test func `there is one of each`() {
        #expect(Self.samples.count >= 8)
    }
}
