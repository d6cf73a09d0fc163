package import SatchelCore
import Glibc
import GIF

/// How an animation is encoded.
package struct AnimationAttempt: Hashable, Sendable {
    package var size: PixelSize
    /// 0 is the best quality.
    package var level: Int
    /// How many frames of the source are merged into one, by ``AnimationOutput/groups(of:)``; nil where each is shown.
    var groups: [Int]?
    /// How many of these are merged into one besides; their delays add up.
    var step = 1
    /// Cheaper settings, for a deadline that is near.
    package var isHasty = false
    /// What the profile asks for.
    var speed = Speed.standard
    /// Sized so that nothing can go over the cap: no frame has a palette of its own.
    var isLast = false

    /// For each frame that is shown, how many of the source it stands for.
    func counts(of frames: Int) -> [Int] {
        let groups = groups ?? Array(repeating: 1, count: frames)
        return stride(from: 0, to: groups.count, by: max(1, step)).map { start in
            groups[start..<min(start + step, groups.count)].reduce(0, +)
        }
    }

    /// The delays of the frames that are shown.
    package func delays(_ delays: [Int]) -> [Int] {
        delays.sums(of: counts(of: delays.count))
    }

    /// The same as a file of `type` says them.
    func written(_ delays: [Int], as type: MediaType) -> [Int] {
        let output = type.format.animation
        return output?.written(self.delays(delays)) ?? self.delays(delays)
    }
}

/// Which settings to try next, by what the last ones came to. A decision without input or output.
///
/// Bytes are saved by quality first, then by pixels, then by merging frames; never by duration. The aim is given up where it
/// would take more than ``floor``; the cap never: the last attempt is sized by what the format can come to at the worst.
struct AnimationPlan: Sendable {
    /// What may be given up for the aim.
    static let floor = (level: 2, side: 0.6)
    static let mostAttempts = 6
    /// Below that many pixels a side, frames are merged first.
    static let leastSide = 48

    /// What is tried now.
    private(set) var attempt: AnimationAttempt
    /// Encodes that were made.
    private(set) var attempts = 0
    /// Why anything was given up.
    private(set) var reason = ""
    private let first: AnimationAttempt
    private let region: PixelSize
    private let frames: Int
    let aim: Int64
    private let cap: Int64
    private let format: AnimationFormat

    init(
        first: AnimationAttempt, region: PixelSize, frames: Int, aim: Int64?, cap: Int64, format: AnimationFormat
    ) {
        attempt = first
        self.first = first
        self.region = region
        self.frames = frames
        self.aim = min(aim ?? cap, cap)
        self.cap = cap
        self.format = format
    }

    /// Bytes from which on an attempt is of no use: nothing is lost by ending it.
    var limit: Int64 { attempt.isLast || isAtFloor ? cap : aim }

    private var isAtFloor: Bool {
        attempt.level >= min(Self.floor.level, format.shares.count - 1)
            && attempt.size.longestSide <= max(1, leastSide(forAim: true)) || attempt.step > 1
            || attempt.level > Self.floor.level
    }

    private func leastSide(forAim: Bool) -> Int {
        let side = first.size.longestSide
        return forAim ? min(side, max(1, Int(Double(side) * Self.floor.side))) : min(side, Self.leastSide)
    }

    /// Takes note of what the attempt came to, or would have; whether another is to be made.
    mutating func next(after bytes: Int64) -> Bool {
        attempts += 1
        guard bytes > limit, attempts < Self.mostAttempts else { return false }
        if attempts == Self.mostAttempts - 1 {
            attempt = last
            reason = "more was over the cap of \(cap) bytes"
            return true
        }
        let isOverCap = bytes > cap
        let whole = Double(bytes) / weight(attempt)
        // Each time a little more carefully.
        let caution = 0.94 - 0.07 * Double(attempts - 1)
        let next = best(whole: whole, under: Double(aim) * caution, forAim: true)
        if let next, next != attempt {
            attempt = next
            reason = "more was over the \(aim == cap ? "cap" : "aim") of \(aim) bytes"
            return true
        }
        let floor = floorAttempt
        if next == nil, floor != attempt, whole * weight(floor) <= Double(cap) * caution {
            attempt = floor
            reason = "more was over the aim of \(aim) bytes, and less would be seen"
            return true
        }
        guard isOverCap || next == nil && !isAtFloor else { return false }
        attempt = best(whole: whole, under: Double(cap) * caution, forAim: false) ?? last
        reason = "more was over the cap of \(cap) bytes"
        return true
    }

    /// How the bytes of an attempt compare with those of one pixel of a frame at the best quality.
    private func weight(_ attempt: AnimationAttempt) -> Double {
        let pixels = Double(attempt.size.area)
        // A little more for each pixel of a smaller picture, and for each change between frames further apart.
        let shown = Double(attempt.counts(of: frames).count)
        let merged = shown * (1 + 0.25 * (1 - shown / Double(max(1, frames))))
        return format.shares[min(attempt.level, format.shares.count - 1)] * pow(pixels, 0.9) * merged
    }

    /// The best settings that are expected to stay under `bytes`; nil where none are.
    private func best(whole: Double, under bytes: Double, forAim: Bool) -> AnimationAttempt? {
        let highest = forAim ? min(Self.floor.level, format.shares.count - 1) : format.shares.count - 1
        var candidate = attempt
        candidate.isLast = false
        for level in min(attempt.level, highest)...highest {
            candidate.level = max(attempt.level, level)
            if whole * weight(candidate) <= bytes { return candidate }
        }
        let least = leastSide(forAim: forAim)
        var side = candidate.size.longestSide
        while side > least {
            side = max(least, min(side - 1, side * 31 / 32))
            candidate.size = format.size(of: region, side: side)
            if whole * weight(candidate) <= bytes { return candidate }
        }
        guard !forAim else { return nil }
        while candidate.step < frames {
            candidate.step += max(1, candidate.step / 4)
            if whole * weight(candidate) <= bytes { return candidate }
        }
        return nil
    }

    private var floorAttempt: AnimationAttempt {
        var floor = attempt
        floor.level = max(attempt.level, min(Self.floor.level, format.shares.count - 1))
        let side = min(attempt.size.longestSide, leastSide(forAim: true))
        floor.size = format.size(of: region, side: side)
        return floor
    }

    /// The largest settings whose worst case fits.
    private var last: AnimationAttempt {
        var last = attempt
        last.isLast = true
        last.level = format.shares.count - 1
        func fits() -> Bool { format.worst(last.size, frames: last.counts(of: frames).count) <= cap }
        func shrink(to least: Int) {
            var side = last.size.longestSide
            while side > least, !fits() {
                side = max(least, min(side - 1, side * 15 / 16))
                last.size = format.size(of: region, side: side)
            }
        }
        shrink(to: Self.leastSide)
        while !fits(), last.step < frames { last.step += max(1, last.step / 8) }
        shrink(to: 1)
        return last
    }
}

/// What an animation is written as, and what that comes to.
struct AnimationFormat: Hashable, Sendable {
    let type: MediaType
    /// Of ``AnimationOutput/shares``.
    let shares: [Double]

    init(_ type: MediaType) {
        self.type = type
        shares = type.format.animation?.shares ?? [1]
    }

    /// `region` scaled until its longest side is at most `side`.
    func size(of region: PixelSize, side: Int?) -> PixelSize {
        type.format.animation?.hasEvenSides == true
            ? region.even(longestSide: side) : Framing(side: side, fit: .inside).scaledSize(of: region)
    }

    /// Whether a file says of frames with these bits of alpha that they are transparent.
    func keeps(alphaBits: UInt32) -> Bool {
        switch type {
        case .gif: alphaBits < 128
        case .mp4: false
        default: alphaBits < 255
        }
    }

    /// Bytes that pictures of a size and number come to at the most, whatever they show, at the lowest quality.
    func worst(_ size: PixelSize, frames: Int) -> Int64 {
        let frames = max(1, frames)
        switch type {
        case .gif:
            return Int64(GIFEncoder.bound(width: size.width, height: size.height, frames: frames))
        case .mp4:
            // H.264 may store a macroblock as it is: 384 bytes and less than 16 around them.
            let blocks = Int64((size.width + 15) / 16) * Int64((size.height + 15) / 16)
            return 8_000 + Int64(frames) * (blocks * 400 + 140)
        default:
            // As many as the pixels have before they are encoded.
            return 100 + Int64(frames) * (size.area * 4 + 200)
        }
    }
}
