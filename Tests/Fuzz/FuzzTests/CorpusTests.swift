import Foundation
import TestSupport
import Testing

/// What the fuzzers have found worth keeping, read again without them: what doesn't hold ends the process. `make fuzz` goes on
/// from there.
@Suite(.timeLimit(.minutes(10))) struct CorpusTests {
    private static let corpora = Repository.root.appending(path: "Tests/Fuzz/corpora")

    @Test(arguments: FuzzTarget.all)
    func `every input that is kept, and what a few changes make of it, is read`(target: FuzzTarget) throws {
        let folder = Self.corpora.appending(path: target.name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!names.isEmpty)
        var generator = SeededGenerator(seed: 1)
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            target.run(bytes)
            for _ in 0..<4 { target.run(Self.changed(bytes, &generator)) }
        }
    }

    @Test func `every target has a corpus, and every corpus a target`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(folders.sorted() == FuzzTarget.all.map(\.name).sorted())
    }

    /// Bits turned, a piece cut out or doubled.
    private static func changed(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        var changed = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            changed[Int.random(in: changed.indices, using: &generator)] ^=
                1 << UInt8.random(in: 0..<8, using: &generator)
        }
        let start = Int.random(in: changed.indices, using: &generator)
        let piece = start..<min(changed.count, start + Int.random(in: 1...64, using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: changed.removeSubrange(piece)
        case 1: changed.insert(contentsOf: changed[piece], at: start)
        default: break
        }
        return changed
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}
