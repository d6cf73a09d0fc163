import SatchelCore
import Glibc
import StillCodecs

/// How a video is encoded until its bytes suit: what is tried first, and what after an attempt that came out too large.
///
/// Quality goes first, then pixels, then the frame rate; never the duration. The last attempt can't be too large: each of
/// its pictures stands alone, and one that its ``ByteBudget`` doesn't reach for is left out. A value without input or
/// output.
struct PictureLadder: Hashable, Sendable {
    /// What an attempt came to.
    enum Outcome: Hashable, Sendable {
        case finished(bytes: Int64)
        /// Ended early, at ``PictureLadder/limit``, after this part (0…1) of its duration.
        case stopped(after: Double)
    }

    private(set) var settings: Encoder.Pictures
    private(set) var audioBitRate: Int
    /// Encodes that were made.
    private(set) var encodes = 0
    /// The attempt that can't be too large.
    private(set) var isLast = false

    private let upright: PixelSize
    private let seconds: Double
    private let aim: Int64
    private let cap: Int64

    static let mostEncodes = 4
    /// The worst that x264 makes of pictures may be a little more visible than this, but isn't smaller by much.
    private static let worstRateFactor = 38
    /// Pixels of a longest side that is not gone below for bytes, but in the last attempt.
    private static let leastSide = 160
    /// Of bytes that are aimed at in the second attempt and in later ones: no prediction is exact.
    private static let margins = [0.9, 0.7]

    init(
        _ settings: Encoder.Pictures, audioBitRate: Int, upright: PixelSize, seconds: Double, aim: Int64?, cap: Int64
    ) {
        self.settings = settings
        self.audioBitRate = audioBitRate
        self.upright = upright
        self.seconds = max(seconds, 0.04)
        self.aim = min(aim ?? cap, cap)
        self.cap = cap
    }

    /// Bytes at which the current attempt is not worth going on with.
    var limit: Int64 { encodes == 0 ? aim : cap }

    /// Takes note of what the attempt with ``settings`` came to.
    ///
    /// - Returns: Whether another is to be made, with the new settings; otherwise the last one's result stays.
    mutating func next(after outcome: Outcome) -> Bool {
        encodes += 1
        let total: Double
        switch outcome {
        case .finished(let bytes):
            guard bytes > aim, !isLast else { return false }
            // An aim is worth two more attempts, not the last resort.
            if bytes <= cap && encodes >= Self.mostEncodes - 1 { return false }
            total = Double(bytes)
        case .stopped(let fraction):
            guard !isLast else { return false }
            total = Double(encodes == 1 ? aim : cap) / max(0.001, min(1, fraction))
        }
        let before = settings
        if encodes < Self.mostEncodes - 1 {
            let margin = Self.margins[min(encodes, Self.margins.count) - 1]
            shrink(to: max(0.000_01, Double(aim) / total * margin))
        }
        if settings == before {
            settings = lastResort
            isLast = true
        }
        return true
    }

    /// Settings that are expected to take this part of the bytes.
    private mutating func shrink(to ratio: Double) {
        var left = min(1, ratio)
        if let bound = settings.maximumBitRate { settings.maximumBitRate = max(8_000, Int(Double(bound) * left)) }
        if audioBitRate > 0 { audioBitRate = max(AudioPlan.leastBitRate, Int(Double(audioBitRate) * max(0.25, left))) }

        // Six steps of the rate factor halve the bytes.
        let wanted = Int((6 * -log2(left)).rounded(.up))
        let steps = max(0, min(wanted, Self.worstRateFactor - settings.rateFactor))
        settings.rateFactor += steps
        left /= exp2(-Double(steps) / 6)
        guard left < 0.95 else { return }

        let size = PixelSize(width: settings.width, height: settings.height)
        // Half as many pixels take 60 % of the bytes.
        let longest = Double(size.longestSide) * pow(left, 1 / 0.75 / 2)
        let side = max(min(Self.leastSide, size.longestSide), Int(longest))
        let smaller = upright.even(longestSide: side)
        let gained = pow(Double(smaller.area) / Double(max(1, size.area)), 0.75)
        settings.width = smaller.width
        settings.height = smaller.height
        left /= max(gained, 0.000_01)
        guard left < 0.95 else { return }

        settings.spacing = min(seconds, max(settings.spacing, 1 / settings.frameRate) / max(left, 0.001))
    }

    // MARK: The last resort

    /// The share of the cap that sound may take where there is any.
    private static let audioShare = 0.25
    /// The part of the pictures' bytes that the first of them may take.
    static let firstShare = 0.4
    /// ISO/IEC 14496-10, A.3.1: a macroblock of 8 bits and 4:2:0 takes at most 3,200 bits.
    private static let macroblockBytes: Int64 = 400
    /// Parameter sets, a slice's header, what frames it.
    private static let pictureBytes: Int64 = 200

    /// Bytes for the sound of the last attempt.
    var audioBytes: Int64 { audioBitRate == 0 ? 0 : Int64(Double(max(0, cap - fixedBytes)) * Self.audioShare) }

    /// Bytes for its pictures, with what each adds to the index.
    var pictureBytes: Int64 { max(0, cap - fixedBytes - audioBytes) }

    /// What the smallest file of this duration takes.
    ///
    /// - Parameter silence: Bytes of its sound, and of the sound's index.
    func leastBytes(silence: Int64) -> Int64 {
        let least = fixedBytes + Self.macroblockBytes + Self.pictureBytes + ContainerSize.sample
        return max(cap + 1, least + Int64(Double(silence) / Self.audioShare))
    }

    private var fixedBytes: Int64 { ContainerSize.movie(tracks: audioBitRate == 0 ? 1 : 2, configuration: 300) }

    /// Small pictures that stand alone; the worst first one fits.
    private var lastResort: Encoder.Pictures {
        var last = settings
        last.isIndependent = true
        last.maximumBitRate = nil
        last.rateFactor = Self.worstRateFactor
        let worst = Double(pictureBytes) * Self.firstShare - Double(Self.pictureBytes + ContainerSize.sample)
        var size = upright.even(longestSide: min(320, max(settings.width, settings.height)))
        while size.longestSide > 16, Double(Self.macroblocks(size) * Self.macroblockBytes) > worst {
            size = upright.even(longestSide: max(16, size.longestSide * 7 / 8))
        }
        last.width = size.width
        last.height = size.height
        // A picture of noise takes about a bit for a pixel: so many are made as will be written.
        let usual = Double(size.area) / 8 + Double(Self.pictureBytes)
        let pictures = max(1, Double(pictureBytes) / usual)
        last.spacing = min(seconds, max(settings.spacing, seconds / pictures))
        return last
    }

    private static func macroblocks(_ size: PixelSize) -> Int64 {
        Int64((size.width + 15) / 16) * Int64((size.height + 15) / 16)
    }
}
