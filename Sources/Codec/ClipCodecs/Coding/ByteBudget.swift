import StillCodecs

/// Bytes that may be used over a time, so that they suffice to its end. A value without input or output.
///
/// However much is asked for, no more than ``total`` is ever given.
struct ByteBudget: Hashable, Sendable {
    let total: Int64
    /// How long they must do.
    let seconds: Double
    /// The part of them that may be used at once.
    let head: Double
    private(set) var used: Int64 = 0

    init(total: Int64, seconds: Double, head: Double) {
        self.total = max(0, total)
        self.seconds = max(seconds, 0.001)
        self.head = head
    }

    /// Takes `bytes` for what is shown or heard at `time`, if that leaves enough for the rest.
    mutating func take(_ bytes: Int64, at time: Double) -> Bool {
        let elapsed = min(1, max(0, time / seconds))
        let allowed = Double(total) * (head + (1 - head) * (elapsed.isNaN ? 0 : elapsed))
        guard bytes >= 0, bytes <= total - used, Double(used + bytes) <= allowed else { return false }
        used += bytes
        return true
    }
}

/// The most bytes that a file can have when its packets are written.
///
/// Sizes are those of the boxes of ISO/IEC 14496-12 as FFmpeg writes them: of each sample in an MP4 there is an entry in
/// `stts` (8), `ctts` (8), `stsz` (4) and `stss` (4), and it may be a chunk of its own with entries in `stsc` (12) and
/// `co64` (8).
enum ContainerSize {
    /// What a sample adds to the index of an MP4.
    static let sample: Int64 = 44
    /// What it adds where times are steady and pictures and sound alternate: more than it ever was.
    static let usualSample: Int64 = 24
    /// The boxes of a movie, and of each track, apart from its decoder's configuration.
    static let movie: Int64 = 600
    static let track: Int64 = 900
    /// Headers of RIFF and PCM.
    static let wave: Int64 = 100
    /// A frame with the count and delay of an MP3: 320 kbit/s at 32 kHz.
    static let mp3: Int64 = 1_500

    /// An MP4's without its packets and their samples.
    static func movie(tracks: Int, configuration: Int64) -> Int64 { movie + Int64(tracks) * track + configuration }
}
