import SatchelCore
import CFFmpeg
import StillCodecs

/// What is known of a clip once its container was read.
struct ClipFacts: Sendable {
    var kind: MediaKind
    var type: MediaType
    var picture: PictureFacts?
    var audio: AudioFacts?
    /// The stream with the cover art.
    var cover: Int?
    /// What the source's clock shows at its beginning, in seconds.
    var origin: Double
    /// Seconds.
    var duration: Double
    /// Another duration, as the header says it.
    var otherLength: Finding?
    /// Seconds that the header announces of a file that ends before them; nil of one that doesn't.
    var announced: Double?
    /// Of a file that ends before its end without saying how much comes after, within what it ends.
    var openEnd: String?
    /// Seconds within it in which it has nothing.
    var holes = 0.0
    /// When its first frame is shown; nil where nothing tells.
    var firstPicture: Double?
    var bytes: Int64
    /// Whether a seek finds its way without reading on.
    var hasIndex: Bool
    /// Its tracks, and which of them are left out or can't be decoded.
    var found = Diagnosis()
}

/// A video stream.
struct PictureFacts: Sendable {
    var stream: Int
    var codec: String
    var isH264: Bool
    /// 8 bits, 4:2:0: what H.264's High profile and every player take.
    var isPlain: Bool
    var isInterlaced: Bool
    /// As stored.
    var coded: PixelSize
    /// As shown: turned, with square pixels.
    var upright: PixelSize
    var hasSquarePixels: Bool
    var turn: Turn
    var frameRate: Double
    var timeBase: TimeBase
    var colours: Colours
    /// Nits of the brightest light of an HDR source.
    var peak: Double

    /// Seconds of one frame.
    var frame: Double { 1 / frameRate }

    /// Seconds by which two times may differ and still mean the same: what containers round, whatever the frame rate.
    var leniency: Double { min(frame / 4, 0.01) }
}

/// An audio stream.
struct AudioFacts: Sendable {
    enum Codec: Sendable, Hashable {
        /// AAC, low complexity.
        case aac
        case mp3
        case pcm16
        case other(String)
    }

    var stream: Int
    var codec: Codec
    var name: String
    var rate: Int
    var channels: Int
    /// Of those, the ones that have no place in a mix of two.
    var unmixed = 0
    var timeBase: TimeBase
    /// Each frame says how long it is; parsers hand out what lies between frames, too.
    var isFramed = false
    /// One part of what its container holds, not several that an edit list puts together.
    var isContinuous = true
}

extension AudioFacts {
    /// Seconds by which what its decoder gives is heard before the time that it says: of WMA one frame, whose samples depend on
    /// version and rate, as FFmpeg's encoder and decoder count them.
    var delay: Double {
        guard name == "wmav1" || name == "wmav2" else { return 0 }
        let isShort = rate <= 22_050 || rate <= 32_000 && name == "wmav1"
        return (rate <= 16_000 ? 512 : isShort ? 1024 : 2048) / Double(rate)
    }

    /// Bytes of the frame that `packet` begins with; nil of what is none, or not a whole one.
    func frameBytes(_ packet: borrowing Packet) -> Int? {
        guard isFramed else { return packet.bytes }
        let contents = unsafe packet.contents
        let length = unsafe codec == .mp3 ? MP3Frame.length(contents) : AACElements.frameBytes(contents)
        return length.flatMap { $0 <= packet.bytes ? $0 : nil }
    }

    /// Takes away what `packet` has before its frame, or all of it if there is none: a parser of MP3 puts both in one packet.
    ///
    /// - Returns: Bytes that are no frame, not even a damaged or truncated one.
    func dropJunk(from packet: borrowing Packet) -> Int {
        guard isBetweenFrames(packet) else { return 0 }
        let contents = unsafe packet.contents
        let start = (1..<contents.count).first { start in
            guard codec == .mp3, unsafe contents[start] == 0xff else { return false }
            return unsafe MP3Frame.length(contents[start...]) == contents.count - start
        }
        let junk = start ?? contents.count
        packet.keep(junk..<contents.count)
        return junk
    }

    /// Returns whether `packet` begins as no frame does, not even a damaged or truncated one.
    func isBetweenFrames(_ packet: borrowing Packet) -> Bool {
        guard isFramed, frameBytes(packet) == nil, packet.bytes > 1 else { return false }
        return unsafe packet.contents[0] != 0xff || packet.contents[1] & 0xe0 != 0xe0
    }
}

/// How stored pictures are turned to be upright.
struct Turn: Sendable, Hashable {
    /// The display matrix; nil for none.
    var matrix: [Int32]?

    /// Degrees clockwise, of 0, 90, 180 and 270; other angles count as the nearest.
    var degrees: Int {
        guard let matrix, matrix.count == 9 else { return 0 }
        let angle = unsafe matrix.withUnsafeBufferPointer { unsafe av_display_rotation_get($0.baseAddress) }
        guard angle.isFinite else { return 0 }
        let quarters = Int((-angle / 90).rounded()) % 4
        return (quarters + 4) % 4 * 90
    }

    var swapsSides: Bool { degrees % 180 != 0 }

    /// The filters that do it.
    var filters: [Filter] {
        guard let matrix, matrix.count == 9 else { return [] }
        switch degrees {
        case 90: return [.transpose(matrix[3] > 0 ? "cclock_flip" : "clock")]
        case 180:
            return (matrix[0] < 0 ? [.flipHorizontally] : []) + (matrix[4] < 0 ? [.flipVertically] : [])
        case 270: return [.transpose(matrix[3] < 0 ? "clock_flip" : "cclock")]
        default: return matrix[4] < 0 ? [.flipVertically] : []
        }
    }
}
