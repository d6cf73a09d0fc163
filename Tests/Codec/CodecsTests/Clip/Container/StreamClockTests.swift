import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Sources whose clock begins oddly or anew, and what is shown and heard of them.
@Suite struct StreamClockTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// Frames whose brightness counts them, and a tone.
    private static func encoding(_ arguments: String) -> [String] {
        ["-c:v", "libx264", "-preset", "ultrafast", "-sc_threshold", "0"] + arguments.split(separator: " ").map(String.init)
    }

    /// Has a transport stream's decoding times begin with the first frame's presentation time, as some segmenters write
    /// them.
    private static func delayDecoding(_ url: URL, frame: Int) throws {
        var bytes = [UInt8](try Data(contentsOf: url))
        var first: Int?
        var count = 0
        for packet in stride(from: 0, to: bytes.count, by: 188) where bytes[packet + 1] & 0x40 != 0 {
            let start = packet + 4 + (bytes[packet + 3] & 0x20 == 0 ? 0 : 1 + Int(bytes[packet + 4]))
            guard start + 19 <= bytes.count, bytes[start..<start + 4].elementsEqual([0, 0, 1, 0xe0]) else { continue }
            let own = bytes[start + 9..<start + 14].map(Int.init)
            let time = (own[0] >> 1 & 7) << 30 | own[1] << 22 | (own[2] >> 1) << 15 | own[3] << 7 | own[4] >> 1
            first = first ?? time
            if bytes[start + 7] >> 6 == 3 {
                let late = (first ?? 0) + count * frame
                let parts = [
                    0x11 | (late >> 30 & 7) << 1, late >> 22 & 255, late >> 14 & 254 | 1, late >> 7 & 255,
                    late << 1 & 255 | 1,
                ]
                bytes.replaceSubrange(start + 14..<start + 19, with: parts.map(UInt8.init))
            }
            count += 1
        }
        try Data(bytes).write(to: url)
    }

    @Test(
        arguments: Sweep.of(
            [1, 2, 3].flatMap { order in [10, 50, 125].map { (order, $0) } }, every: 2), [false, true])
    func `decoding times that are late take no frame along`(kind: (order: Int, group: Int), hasAudio: Bool) throws {
        let audio = hasAudio ? ["-c:a", "aac"] : ["-an"]
        let source = try BrightnessClip.make(
            file("late.ts"), seconds: 6, Self.encoding("-g \(kind.group) -bf \(kind.order) -x264-params b-adapt=0") + audio)
        try Self.delayDecoding(source, frame: 3600)
        let (main, made) = try CountedClips.part(source, nil)
        #expect(made.ending.losses == [])
        #expect(try BrightnessClip.counts(of: main) == (0..<150).map { $0 % 40 })
        #expect(abs(try Probe.of(main).duration - 6) < 0.1)
        let (part, cut) = try CountedClips.part(source, TrimRequest(start: 1, duration: 2))
        #expect(cut.ending.losses == [])
        let counts = try BrightnessClip.counts(of: part)
        #expect(abs(counts.count - 50) <= 1 && abs((counts.first ?? 0) - 25) <= 2, "\(counts)")
    }
}
