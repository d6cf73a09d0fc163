import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What is refused, and in which words: the samples with a few of their bytes changed, judged by decoders that aren't ours.
@Suite struct RefusalTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `what an independent decoder reads without complaint is never called corrupt`() async throws {
        let mutants = try Mutants(in: directory.url.appending(path: "mutants"))
        #expect(mutants.names.count > Sweep.count(400, else: 80))
        let report = directory.url.appending(path: "report")
        await #expect(processExitsWith: .success) {
            [
                folder = mutants.folder as URL, names = mutants.names as [String], report = report as URL
            ] in
            try Survived.run(folder, names: names, renders: true, report: report)
        }
        let (survived, diedOn) = try Survived.read(report)
        #expect(diedOn == nil)
        #expect(survived.count == mutants.names.count)
        for one in survived where one.outcome == "delivered" {
            #expect(one.message.isEmpty, "\(one.name): \(one.message)")
        }
        var judged = 0
        for one in survived where one.outcome == ErrorCode.corrupt.rawValue {
            judged += 1
            let complaint = try mutants.complaint(of: one.name)
            #expect(complaint != nil, "\(one.name): \(one.message)")
        }
        // It is about damage that is found.
        #expect(judged > Sweep.count(25, else: 4))
    }
}

/// Samples of every format, each with a few mutations that always come out alike.
private struct Mutants {
    /// What is done to a file of `count` bytes; all leave the first bytes, by which a type is known.
    private enum Mutation: CaseIterable {
        case flip, zeros, cut, junk, repeated

        func callAsFunction(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
            var bytes = bytes
            let place = Int.random(in: min(32, bytes.count - 1)..<bytes.count, using: &random)
            let length = min(bytes.count - place, Int.random(in: 1...64, using: &random))
            switch self {
            case .flip: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case .zeros: bytes.replaceSubrange(place..<place + length, with: repeatElement(0, count: length))
            case .cut: bytes.removeLast(min(bytes.count - place, Int.random(in: 1...256, using: &random)))
            case .junk: bytes.append(contentsOf: (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
            case .repeated: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            }
            return bytes
        }
    }

    let folder: URL
    private var samples: [String: MediaSample] = [:]

    var names: [String] { samples.keys.sorted() }

    init(in folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var random = SeededGenerator(seed: 27)
        let delivered = try MediaManifest.load().files.filter { $0.expect.state == "delivered" }
        for (index, sample) in delivered.enumerated() {
            let bytes = [UInt8](try Data(contentsOf: sample.url))
            // Of a large file a few bytes say little, and it takes its time.
            guard (100..<60_000).contains(bytes.count) else { continue }
            for mutation in Sweep.of(Mutation.allCases, every: 5, from: index) {
                let name = "\(sample.path.replacing("/", with: "-")).\(mutation).\(sample.url.pathExtension)"
                try Data(mutation(bytes, &random)).write(to: folder.appending(path: name))
                samples[name] = sample
            }
        }
    }

    /// What the decoders and checkers of its format say of a mutant; nil where all of them read it and say nothing.
    func complaint(of name: String) throws -> String? {
        let path = folder.appending(path: name).path
        let look = ["convert", path, "null:"]
        let judges =
            switch (samples[name]?.expect.kind, samples[name]?.expect.type) {
            // ImageMagick draws what is left of these two and says nothing.
            case (_, .gif): [look, ["gifsicle", "--unoptimize", path, "--output", "/dev/null"]]
            case (_, .webp): [look, ["webpinfo", "-quiet", path]]
            case (.image, _), (.animation, _): [look]
            default: [["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-f", "framehash", "-hash", "adler32", "-"]]
            }
        for judge in judges {
            let judged = try Program.tool(judge[0]).run(Array(judge.dropFirst()))
            if judged.status != 0 || !judged.errors.isEmpty || judged.outputText.contains("Errors detected") {
                return judged.errorText
            }
            // Nor does FFmpeg say anything where it finds nothing to decode.
            let isEmpty = judged.outputText.split(separator: "\n").allSatisfy { $0.hasPrefix("#") }
            if judge[0] == "ffmpeg", isEmpty { return "it has no frames" }
        }
        return nil
    }
}
