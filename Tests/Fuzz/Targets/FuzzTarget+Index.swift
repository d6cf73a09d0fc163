import SatchelCore
import CFFmpeg

@testable import ClipCodecs
@testable import StillCodecs

extension FuzzTarget {
    /// Surgery on sound and indices: MP3 frames, AAC elements, an MP4's index, and how long containers say that they are.
    static let index = FuzzTarget("index") { bytes in
        var input = FuzzInput(bytes)
        let kind = input.byte()
        let rest = input.bytes()
        let count = Int64(rest.count)
        let read = FuzzTarget.reader(of: rest)
        switch kind & 3 {
        case 0: clearAncillary(rest)
        case 1: clearElements(rest)
        case 2:
            for range in IndexCleaner.unwanted(in: rest) {
                precondition(range.lowerBound >= 4 && range.upperBound <= rest.count)
            }
            if let index = FileBoxes.of(count, read, { $0.first("moov", in: $0.whole) }) {
                precondition(index.lowerBound >= 8 && index.upperBound <= count)
            }
            _ = WindowsProtection.isFound(in: rest)
            _ = Scrambling.isFound(in: rest)
            _ = WrappedAudio.mayBe(in: rest)
        default:
            let sizes = [
                DeclaredSize.chunk(rest, isBigEndian: false), DeclaredSize.chunk(rest, isBigEndian: true),
                DeclaredSize.segment(rest), DeclaredSize.packets(in: count, start: rest, read: read),
                DeclaredSize.pages(rest).map { Int64($0.end) }, DeclaredSize.fileObject(rest)?.bytes,
                DeclaredSize.frames(read),
            ]
            precondition(sizes.allSatisfy { $0 ?? 0 >= 0 }, "a size is negative")
            precondition(MP3Frame.seconds(from: 0, of: count, read: read).map { $0 > 0 } ?? true)
            let clean = DecoderConfiguration.clean(rest, of: AV_CODEC_ID_AAC)
            precondition(rest.starts(with: clean))
            if let plain = DecoderConfiguration.plainAAC(rest) { precondition(plain.samples > 0 && plain.channels > 0) }
        }
    }

    /// Frames come out as many and as long as they went in, and what was cleared once is clear.
    private static func clearAncillary(_ bytes: [UInt8]) {
        func clear(_ frames: [[UInt8]]) -> [[UInt8]] {
            var ancillary = MP3Ancillary()
            return frames.flatMap { ancillary.add($0) } + ancillary.finish()
        }
        let frames = bytes.split(separator: 0xff, maxSplits: 64).map { [0xff] + $0 }
        let cleared = clear(frames)
        precondition(cleared.map(\.count) == frames.map(\.count), "frames were lost or cut")
        precondition(clear(cleared) == cleared, "what was cleared once isn't clear")
        for frame in frames { _ = MP3Frame.length(frame) }
    }

    private static func clearElements(_ bytes: [UInt8]) {
        var once = bytes
        _ = AACElements.clear(&once)
        precondition(once.count == bytes.count)
        var twice = once
        precondition(!AACElements.clear(&twice) && twice == once, "what was cleared once isn't clear")
    }
}
