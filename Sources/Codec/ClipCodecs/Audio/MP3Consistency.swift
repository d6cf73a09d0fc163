import CFFmpeg
import StillCodecs

/// Follows MP3 frames by what their heads say, and tells of which a decoder would surely not complain.
///
/// FFmpeg's complains of a header, of two fields of the side information, and of data that isn't where the head says it is;
/// what is in the data it takes as it comes. ISO/IEC 11172-3, 2.4.1.7 and 2.4.2.7, and ISO/IEC 13818-3, 2.4.1.7.
struct MP3Consistency {
    private let rate: Int
    private let channels: Int
    /// Bytes of data before the next frame that no frame has used.
    private var left = 0
    /// Bytes of a frame without rounding, by the bit rates so far.
    private var means: Set<Double> = []
    /// Bytes that a frame may have at any bit rate.
    private var lengths: Set<Int> = []
    /// The data of the last frame begins where that of the frame before ends.
    private var isContinued = false

    init(rate: Int, channels: Int) {
        self.rate = rate
        self.channels = channels
    }

    /// Takes in the next frame.
    ///
    /// - Returns: Whether it is whole, of the stream's kind, and so are all that it needs of the frames before; false also
    ///   where only decoding would tell.
    mutating func accept(_ frame: [UInt8]) -> Bool {
        guard frame.count > 4, let header = MP3Frame.header(frame[0], frame[1], frame[2]),
            header.bytes == frame.count, let side = MP3SideInformation(frame)
        else {
            (left, isContinued) = (0, false)
            return false
        }
        if lengths.isEmpty { lengths = MP3Frame.lengths(like: frame) }
        means.insert(header.mean)
        isContinued = side.reach > 0 && side.reach == left
        let own = frame.count - side.end
        let rest = side.reach + own - (side.bits + 7) / 8
        let isComplete = side.reach <= left && rest >= 0
        left = max(0, min(rest, left + own))
        return isComplete && side.isValid && header.rate == rate && (frame[3] >> 6 == 3 ? 1 : 2) == channels
    }

    /// Returns whether bytes before the last frame may be frames that lost their headers: if they are as long as whole frames.
    func mayLack(_ bytes: Int) -> Bool {
        if means.count == 1, let mean = means.first {
            // Padding keeps any number of frames within a byte of their mean.
            let frames = (Double(bytes) / mean).rounded()
            return frames > 0 && abs(Double(bytes) - frames * mean) < 1
        }
        // At a variable bit rate nearly any length is a sum of others, but data that goes on lacks nothing.
        guard bytes < 1 << 16, !isContinued else { return !isContinued }
        var sums = [true]
        for sum in 1...bytes { sums.append(lengths.contains { $0 <= sum && sums[sum - $0] }) }
        return sums[bytes]
    }
}

extension WaveformReader {
    /// Whether an MP3's part is plainly without damage, so that it need not be decoded to find any.
    func isPlainlyWhole(_ demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Bool {
        guard audio.codec == .mp3, try seekBefore(demuxer) else { return false }
        let packet = try Packet()
        var consistency = MP3Consistency(rate: audio.rate, channels: audio.channels)
        var count = 0
        while try demuxer.read(packet) {
            guard packet.stream == audio.stream else { continue }
            guard let time = packet.pts ?? packet.dts, !packet.isCorrupt else { return false }
            if seconds(time) > part.reach { break }
            let isConsistent = consistency.accept(unsafe Array(packet.contents))
            guard belongs(packet, at: seconds(time)) else { continue }
            guard isConsistent else { return false }
            count += 1
        }
        return count > 0
    }
}
