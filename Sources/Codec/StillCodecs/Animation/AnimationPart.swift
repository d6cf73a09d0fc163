import SatchelCore

/// The part of an animation that is delivered: frames of its first play.
///
/// A frame is in it where any of the time that it is shown is. The first and the last frame are shown for as long as they are
/// within the part, all others as in the source; all in whole milliseconds. What a format writes is as near as it can say it:
/// GIF has hundredths of a second, and browsers take less than 2 of them, and WebP's 10 milliseconds or less, for 100 ms, so
/// that a frame of which less is left gets 20 ms in GIF and 11 ms in WebP.
struct AnimationPart: Hashable, Sendable {
    /// Of the source's frames.
    private(set) var frames: Range<Int>
    /// Milliseconds of the source.
    private(set) var start: Int
    private(set) var end: Int
    /// The facts of an animation that is nothing but the part.
    private(set) var facts: AnimationFacts
    private let source: AnimationFacts

    /// Frames of the source that have to be decoded.
    var decoded: Int { frames.upperBound }

    /// Less than the whole.
    var isTrimmed: Bool { facts.delays != source.delays }

    init(all facts: AnimationFacts) {
        frames = 0..<facts.frames
        start = 0
        end = facts.delays.reduce(0, +)
        self.facts = facts
        source = facts
    }

    /// - Throws: ``AttachmentError/invalidSource(reason:)`` for a trim outside the animation.
    init(of facts: AnimationFacts, for request: RenditionRequest) throws(AttachmentError) {
        self.init(all: facts)
        guard let trim = request.trim else { return }
        let ends = facts.delays.ends
        let total = ends.last ?? 0
        let length = trim.duration.map { $0 > 0 ? max(1, Self.milliseconds($0)) : 0 }
        let frame = request.thumbnailFrame.map { ends[min(max(0, $0), facts.frames)] }
        let moment = frame ?? request.thumbnailTime.map(Self.milliseconds) ?? total / 2
        let centred = max(0, min(moment - (length ?? total) / 2, total - (length ?? total)))
        let start = trim.start.map { max(0, Self.milliseconds($0)) } ?? centred
        guard start < total else {
            throw .invalidSource(
                reason: "the trim starts at \(Double(start) / 1000) s, and the animation ends at \(facts.duration) s")
        }
        guard length != 0 else { throw .invalidSource(reason: "the trim is empty") }
        let end = min(total, start + (length ?? total))
        let first = ends.dropFirst().firstIndex { $0 > start }.map { $0 - 1 } ?? 0
        let past = ends.firstIndex { $0 >= end } ?? facts.frames
        frames = first..<past
        self.facts.delays = frames.map { min(ends[$0 + 1], end) - max(ends[$0], start) }
        // Frames that are missing come after those that are there.
        if let length, start + length <= total { self.facts.missing = 0 }
        // Frames are counted from the part's first.
        if first > 0, facts.missingCode == .endsWithin { self.facts.missingCode = .endsBefore }
        self.start = start
        self.end = end
    }

    /// A year is beyond every end.
    private static func milliseconds(_ seconds: Double) -> Int { Int((min(seconds, 3e7) * 1000).rounded()) }

    /// Which frames become one as `type`; nil where each is shown.
    func groups(as type: MediaType) -> [Int]? {
        let groups = type.format.animation?.groups(of: facts.delays)
        return groups.flatMap { $0.count < facts.frames ? $0 : nil }
    }

    /// For the record; nil where nothing was cut.
    var report: TrimReport? {
        guard isTrimmed else { return nil }
        return TrimReport(
            start: Double(start) / 1000, duration: Double(end - start) / 1000, sourceDuration: source.duration,
            method: .encode)
    }

    /// `frames 5 to 16 of 40`, or `40 frames`.
    var note: String {
        guard isTrimmed else { return "\(source.frames) frames" }
        let which =
            frames.count == 1 ? "frame \(frames.upperBound)" : "frames \(frames.lowerBound + 1) to \(frames.upperBound)"
        return "\(which) of \(source.frames)"
    }
}
