import Foundation
import TestSupport
import Testing

/// Replays the stored corpora without a fuzzer. A broken expectation of a target ends the process. `make fuzz` continues from
/// these corpora.
@Suite(.timeLimit(.minutes(10))) struct CorpusTests {
    @Test(arguments: FuzzTarget.all)
    func `every input of the archive and four variations of it are read`(target: FuzzTarget) throws {
        let inputs = try FuzzCorpus(of: target.name).inputs
        var generator = SeededGenerator(seed: 1)
        for input in inputs {
            target.run(input.bytes)
            for _ in 0..<4 { target.run(Self.changed(input.bytes, &generator)) }
        }
        print("\(target.name): \(inputs.count) inputs")
    }

    @Test func `every target has an archive, and every archive a target`() throws {
        // `huffman` is replayed by HuffmanDecoderTests.
        #expect(try FuzzCorpus.targets().sorted() == (FuzzTarget.all.map(\.name) + ["huffman"]).sorted())
    }

    @Test func `a missing, damaged or empty archive fails`() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: FuzzCorpus.Unreadable.self) { try FuzzCorpus(of: "missing", in: directory.url) }
        try Data("no archive".utf8).write(to: directory.url.appending(path: "damaged.tar.xz"))
        #expect(throws: FuzzCorpus.Unreadable.self) { try FuzzCorpus(of: "damaged", in: directory.url) }
        let empty = directory.url.appending(path: "empty.tar.xz").path(percentEncoded: false)
        #expect(try Program.tool("tar").run(["-cJf", empty, "--files-from=/dev/null"]).status == 0)
        #expect(throws: FuzzCorpus.Unreadable.self) { try FuzzCorpus(of: "empty", in: directory.url) }
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
