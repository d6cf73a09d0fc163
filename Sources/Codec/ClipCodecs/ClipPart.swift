import SatchelCore
import StillCodecs

/// The part of a clip that is delivered; seconds of the untrimmed source.
struct ClipPart: Hashable, Sendable {
    var start: Double
    var duration: Double
    /// The end is the profile's limit, not a wish: it may come earlier, never later.
    var isLimited = false
    /// Seconds that it would have without that limit.
    var asked: Double
    /// Less than the whole.
    var isTrimmed: Bool

    var end: Double { start + duration }

    /// As far as packets are taken, from the start: a whole source goes to its own end, whatever its container says that
    /// is.
    var reach: Double { isTrimmed ? duration : duration + 1 }

    /// How near to the end of the source a part's end counts as the source's.
    private static let whole = 0.02

    /// - Throws: ``AttachmentError/tooLong(seconds:limit:)`` where the profile doesn't trim by itself;
    ///   ``AttachmentError/invalidSource(reason:)`` for a trim outside the source.
    init(
        of source: Double, request: TrimRequest?, around moment: Double? = nil, maximum: Double?, whenLonger: WhenLonger
    ) throws(AttachmentError) {
        let start = Self.start(of: request, around: moment, source: source, maximum: maximum)
        guard start < source || start == 0 else {
            throw .invalidSource(
                reason: "the trim starts at \(rounded(start)) s, and the recording ends at \(rounded(source)) s")
        }
        let rest = max(0, source - start)
        var duration = min(request?.duration ?? rest, rest)
        guard duration > 0 || source == 0 else { throw .invalidSource(reason: "the trim is empty") }
        asked = duration
        if let maximum, duration > maximum + Self.whole {
            // A trim without an end goes as far as the profile takes.
            guard whenLonger == .trim || (request != nil && request?.duration == nil) else {
                throw .tooLong(seconds: duration, limit: maximum)
            }
            duration = maximum
            isLimited = true
        }
        self.start = start
        self.duration = duration
        isTrimmed = start > 0 || duration < source - Self.whole
    }

    /// Where the part begins: as the request says, or so that `moment` is in its middle, as far as the source goes.
    private static func start(of request: TrimRequest?, around moment: Double?, source: Double, maximum: Double?)
        -> Double
    {
        guard let request else { return 0 }
        if let start = request.start { return max(0, start) }
        let length = min(request.duration ?? maximum ?? source, maximum ?? source)
        return max(0, min((moment ?? source / 2) - length / 2, source - length))
    }
}
