/// The cheapest that clips are encoded at before their cap is called unreachable.
public enum LowestSettings {
    /// Bits per second of H.264.
    public static let pictureBitRate = 40_000
    /// Bits per second of AAC.
    public static let soundBitRate = 12_000
    /// Samples per second of WAV: one channel of 16 bits.
    public static let sampleRate = 8_000
}

/// The cap below which nothing of a kind fits, and what takes that much.
struct MinimumEncodedSize: Hashable, Sendable {
    var bytes: Int64
    /// For a person, in the plural: `30 s of WAV at 8000 Hz mono`.
    var what: String

    /// Of a still: one pixel, in the cheapest of `types`; nil where none is a still's.
    static func still(_ types: [MediaType]) -> MinimumEncodedSize? {
        types.compactMap { type in
            BoundedStill.floor(of: type).map {
                MinimumEncodedSize(bytes: $0, what: "the pixels of a 1×1 \(type.format.name)")
            }
        }.min { $0.bytes < $1.bytes }
    }

    /// Of an animation: one frame of one pixel, all others being the same.
    static func animation(_ type: MediaType) -> MinimumEncodedSize? {
        switch type {
        case .gif:
            // Header and screen, two colours, loop count, delay, frame, nine bits of LZW, trailer (GIF89a).
            MinimumEncodedSize(bytes: 13 + 6 + 19 + 8 + 10 + 5 + 1, what: "the pixels of a 1×1 GIF with one frame")
        case .webp:
            // VP8X, ANIM and ANMF beside a still's own chunk.
            BoundedStill.floor(of: .webp).map {
                MinimumEncodedSize(bytes: $0 + 18 + 14 + 24, what: "the pixels of a 1×1 WebP with one frame")
            }
        case .mp4: video(seconds: 0)
        default: still([type])
        }
    }

    /// Of a video with sound.
    static func video(seconds: Double) -> MinimumEncodedSize {
        let rate = LowestSettings.pictureBitRate + LowestSettings.soundBitRate
        guard seconds > 0 else { return MinimumEncodedSize(bytes: mp4Boxes, what: "the boxes of an MP4") }
        return MinimumEncodedSize(
            bytes: mp4Boxes + bytes(seconds, bitRate: rate),
            what: "\(number(seconds)) s of MP4 at \(rate) bits per second")
    }

    /// Of a sound, in the cheapest of `types` that is encoded to; nil where there is none.
    static func audio(_ types: [MediaType], seconds: Double) -> MinimumEncodedSize? {
        types.compactMap { type -> MinimumEncodedSize? in
            switch type {
            case .wav:
                MinimumEncodedSize(
                    bytes: 44 + bytes(seconds, bitRate: LowestSettings.sampleRate * 16),
                    what: seconds > 0
                        ? "\(number(seconds)) s of WAV at \(LowestSettings.sampleRate) Hz mono" : "the headers of a WAV"
                )
            case .m4a:
                MinimumEncodedSize(
                    bytes: m4aBoxes + bytes(seconds, bitRate: LowestSettings.soundBitRate),
                    what: seconds > 0
                        ? "\(number(seconds)) s of AAC at \(LowestSettings.soundBitRate) bits per second"
                        : "the boxes of an MPEG-4 file")
            default: nil
            }
        }.min { $0.bytes < $1.bytes }
    }

    private static func bytes(_ seconds: Double, bitRate: Int) -> Int64 {
        Int64(min(max(0, seconds), 1e9) * Double(bitRate) / 8)
    }

    private static func number(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? String(Int64(min(seconds, 1e15))) : "\(seconds)"
    }

    /// Boxes that a player cannot do without (ISO/IEC 14496-12), around one track of sound: ftyp 24, moov 8, mvhd 108,
    /// trak 8, tkhd 92, mdia 8, mdhd 32, hdlr 33, minf 8, smhd 16, dinf 36, stbl 8, stsd 16 with mp4a 36 and esds 35,
    /// stts 24, stsc 28, stsz 20, stco 20, mdat 8.
    private static let m4aBoxes: Int64 =
        24 + 8 + 108 + 8 + 92 + 8 + 32 + 33 + 8 + 16 + 36 + 8 + 16 + 36 + 35 + 24 + 28 + 20
        + 20 + 8

    /// The same around one track of pictures: vmhd 20 for smhd, avc1 86 and avcC 19 with sets of at least 10 bytes.
    private static let mp4Boxes: Int64 = m4aBoxes - 16 + 20 - 36 - 35 + 86 + 19 + 10
}
