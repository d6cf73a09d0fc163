import StillCodecs

/// One packet of a video stream as a cut sees it; times in the stream's time base.
struct CutPacket: Hashable, Sendable {
    var pts: Int64
    var duration: Int64
    var bytes: Int
    /// Decoding can begin here, and nothing after it refers to anything before.
    var isRefresh: Bool
    /// Decoded but not shown by the source's own edit list.
    var isHidden: Bool
}

/// Where a part of a video can be cut out without decoding it.
///
/// A value without input or output: what it is asked is in its parameters, what it says is carried out elsewhere.
struct CutPlan: Hashable, Sendable {
    /// Packets in decoding order, as indices into those that were asked about.
    var packets: Range<Int>
    /// When the first picture begins, of which the part may lack the beginning.
    var start: Int64
    /// When the last picture ends.
    var end: Int64
    var bytes: Int64

    /// Why a part can't be copied, as a clause.
    struct Refusal: Error, Hashable {
        var reason: String

        /// The reasons of two attempts, which may be the same.
        func joined(with other: Refusal) -> Refusal {
            other.reason == reason ? self : Refusal(reason: "\(reason), and \(other.reason)")
        }
    }

    /// What part is wanted.
    struct Request: Hashable, Sendable {
        var start: Int64
        var end: Int64
        /// How much too early or too late a frame may be and still count as one that begins on time.
        var leniency: Int64
        /// Where the end is a limit and not what was asked for: it is never passed, and missed by at most so much.
        var slack: Int64?

        /// When the frame begins that is shown at the start, which may be before it. A stream may begin later: with its
        /// container's first sound, for one.
        func opening(of packets: some Sequence<CutPacket>) -> Int64? {
            packets.map(\.pts).filter { $0 <= start + leniency }.max() ?? packets.map(\.pts).min()
        }
    }

    /// - Parameters:
    ///   - packets: In decoding order, from the start or before to one that is decoded after the wished end.
    ///   - reachesEnd: Whether they include the stream's last.
    static func make(
        _ packets: [CutPacket], reachesEnd: Bool, request: Request
    ) throws(Refusal) -> CutPlan {
        guard let start = request.opening(of: packets),
            let first = packets.firstIndex(where: { $0.isRefresh && $0.pts == start }),
            packets[..<first].allSatisfy({ $0.pts < start })
        else { throw Refusal(reason: "the start is on no keyframe") }

        let rest = packets[first...]
        guard rest.allSatisfy({ $0.pts >= start }) else {
            throw Refusal(reason: "pictures of before the start follow its keyframe")
        }
        var earliestAfter = [Int64](repeating: .max, count: packets.count + 1)
        for index in rest.indices.reversed() {
            earliestAfter[index] = min(earliestAfter[index + 1], packets[index].pts)
        }

        var latest = rest[first]
        var bytes: Int64 = 0
        var best: CutPlan?
        for index in rest.indices {
            let packet = packets[index]
            if packet.isHidden { throw Refusal(reason: "the source hides pictures of this part") }
            if packet.pts > latest.pts { latest = packet }
            bytes += Int64(packet.bytes)
            let isLast = index == packets.count - 1
            if isLast && !reachesEnd { break }
            // All up to here is shown before anything after it, so nothing that is kept refers to what is not.
            guard isLast || earliestAfter[index + 1] > latest.pts else { continue }
            // The last frame begins within the part, and is shown no longer than that.
            guard latest.pts < request.end - request.leniency || index == first else { break }
            let next = isLast ? latest.pts + max(1, latest.duration) : earliestAfter[index + 1]
            let end = max(start + 1, min(next, request.end))
            if isLast || end >= request.end - request.leniency - (request.slack ?? 0) {
                best = CutPlan(packets: first..<index + 1, start: start, end: end, bytes: bytes)
            }
        }
        guard let best else { throw Refusal(reason: "the end lies between pictures that need each other") }
        return best
    }
}
