import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Files that say of themselves what isn't so: dimensions, durations, counts, sizes of parts. Each ends in an error with
/// a code or in renditions, soon, and in little memory.
@Suite struct LyingHeaderTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `no lie of a header ends the process, or takes long or much`() async throws {
        let files = try LyingFiles("lies", in: directory.url)
        #expect(files.names.count > 250)
        let report = directory.url.appending(path: "report")
        await #expect(processExitsWith: .success) {
            [
                folder = files.folder as URL, names = files.names as [String], report = report as URL
            ] in
            try Survived.run(folder, names: names, renders: true, report: report)
        }
        let (survived, diedOn) = try Survived.read(report)
        #expect(diedOn == nil)
        #expect(survived.map(\.name) == files.names)
        for one in survived {
            let allowed = files.outcomes[one.name] ?? []
            #expect(one.isOne(of: allowed), "\(one.name): \(one.outcome), not \(allowed)")
            #expect(one.memory < (400 << 20) * Survived.slack, "\(one.name) took \(one.memory) bytes")
            #expect(one.seconds < 3 * Double(Survived.slack), "\(one.name) took \(one.seconds) s")
        }
        // Most of them are still worth something.
        #expect(survived.count { $0.outcome == "delivered" } > 60)
    }
}
