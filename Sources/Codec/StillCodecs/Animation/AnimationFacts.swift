package import SatchelCore

/// What an animation says of itself in its header.
package struct AnimationFacts: Hashable, Sendable {
    var type: MediaType
    var sniffedType: String
    package var size: PixelSize
    /// Milliseconds that each frame is shown, by the browsers' rule.
    package var delays: [Int]
    /// How often it plays; 0 for ever.
    var plays: Int
    /// Bytes of the file.
    var bytes: Int
    /// Frames that were announced, or begun, and are not among those of ``delays``.
    var missing = 0
    /// Why, where some are.
    var missingCode = Finding.Code.notDecoded
    /// What the pixels of its frames stand for; nil where they are sRGB's.
    var colours: FrameColours?
    /// What the file lacks without any harm.
    var evidence: [Finding] = []
    /// What is left out.
    var omissions: [Finding] = []

    package var frames: Int { delays.count }

    /// Seconds of one play.
    var duration: Double { Double(delays.reduce(0, +)) / 1000 }

    /// Browsers show a frame whose delay is 0 or 1 hundredth of a second for 10 hundredths.
    package static func shown(_ milliseconds: Int) -> Int {
        milliseconds <= 10 ? 100 : milliseconds
    }

    /// The same of delays that are parts of milliseconds, rounded where frames begin, so that nothing adds up.
    package static func shown(_ milliseconds: [Double]) -> [Int] {
        var (elapsed, told) = (0.0, 0)
        return milliseconds.map { delay in
            elapsed += delay <= 10 ? 100 : delay
            let delay = Int(min(elapsed, 1e15).rounded()) - told
            told += delay
            return delay
        }
    }

    var playsText: String { isEndless ? "for ever" : plays == 1 ? "once" : "\(plays) times" }

    /// `true` if it repeats without an end: it says so, or it names a number that no author means.
    private var isEndless: Bool { plays <= 0 || plays > 1_000_000 }

    /// Adds what a file of `type` can't say of how the animation plays.
    func note(unsaidBy type: MediaType, in diagnosis: inout Diagnosis) {
        guard let output = type.format.animation else { return }
        let (name, most) = (type.format.name, output.mostPlays ?? 1)
        if isEndless ? output.mostPlays == nil : plays > most {
            let (missing, total) = isEndless ? (nil, nil) : (Double(plays - most), Double(plays))
            diagnosis.omissions.append(Finding(.leftOut, .plays, missing: missing, of: total, named: name))
        }
        let groups = output.groups(of: delays)
        let merged = frames - groups.count
        if merged > 0 {
            diagnosis.omissions.append(Finding(.merged, .frames, missing: merged, of: frames, named: name))
        }
        let after = Double(output.written(delays.sums(of: groups)).reduce(0, +)) / 1000
        let isOff = delays.contains { $0 % output.delayUnit != 0 || $0 > output.longestDelay }
        if isOff, merged == 0 || after != duration {
            diagnosis.changes.append(Finding(.delaysChanged, missing: after, of: duration, named: name))
        }
    }

    /// libvips holds frames one above the other, in a picture of at most so many rows.
    private static let rowsOfAll: Int64 = 10_000_000

    /// Refuses what is over a limit.
    package static func check(frames: Int, size: PixelSize, limits: Limits) throws(AttachmentError) {
        guard frames <= limits.animationFrames else {
            throw .tooManyFrames(frames: frames, limit: limits.animationFrames)
        }
        try limits.check(size, most: limits.framePixels)
        let rows = Int64(size.height) * Int64(frames)
        guard rows <= rowsOfAll else {
            throw .tooMuch(what: "rows in all of its frames", count: rows, limit: rowsOfAll)
        }
        let pixels = size.area * Int64(frames)
        guard pixels <= limits.animationPixels else {
            throw .tooManyPixels(pixels: pixels, limit: limits.animationPixels)
        }
    }
}

extension AnimationOutput {
    /// How many frames in a row become one, so that the whole lasts as long although none is shown for less than can be said.
    func groups(of delays: [Int]) -> [Int] {
        var groups: [Int] = []
        var (elapsed, start, end) = (0, 0, 0)
        for delay in delays {
            // A longer one makes up for those before it.
            if delay < shortestDelay, (end - elapsed) * 2 >= shortestDelay, let last = groups.indices.last {
                groups[last] += 1
            } else {
                groups.append(1)
                start = end
            }
            elapsed += delay
            end = max(start + shortestDelay, nearest(elapsed))
        }
        return groups
    }

    /// The delays that a file says, so that no frame starts more than half a unit off where that can be.
    func written(_ delays: [Int]) -> [Int] {
        var (elapsed, end) = (0, 0)
        return delays.map { delay in
            elapsed += delay
            let shown = max(shortestDelay, nearest(elapsed) - end)
            end += shown
            return min(shown, longestDelay)
        }
    }

    private func nearest(_ time: Int) -> Int { (time + delayUnit / 2) / delayUnit * delayUnit }
}

extension [Int] {
    /// The time at which the first begins, and the time at which each ends.
    var ends: [Int] { reduce(into: [0]) { ends, length in ends.append((ends.last ?? 0) + length) } }

    /// Of so many in a row each.
    func sums(of counts: [Int]) -> [Int] {
        var start = 0
        return counts.map { count in
            defer { start += count }
            return self[start..<start + count].reduce(0, +)
        }
    }
}

extension AnimationFacts {
    package init(
        type: MediaType, sniffedType: String, size: PixelSize, delays: [Int], plays: Int, bytes: Int, missing: Int,
        missingCode: Finding.Code, omissions: [Finding]
    ) {
        self.init(
            type: type, sniffedType: sniffedType, size: size, delays: delays, plays: plays, bytes: bytes,
            missing: missing, missingCode: missingCode, evidence: [], omissions: omissions)
    }
}
