import StillCodecs

/// Where a part of a video can be cut so that only its edges are encoded: what lies between two clean cuts is copied,
/// the pictures before and after it are made anew.
///
/// A value without input or output, as ``CutPlan`` is.
struct SmartPlan: Hashable, Sendable {
    /// What is copied.
    var middle: CutPlan
    /// Pictures before it, in the order they are shown, by their times; never just one.
    var head: [Int64]
    /// Pictures after it.
    var tail: [Int64]
    /// The packet from which the head can be decoded, as an index.
    var headSource: Int
    /// The same for the tail.
    var tailSource: Int
    /// When the last picture ends.
    var end: Int64

    /// At most so much of a part is encoded where the rest is copied.
    static let largestShare = 0.5

    /// - Parameters:
    ///   - packets: In decoding order, from one with which decoding can begin to one that is decoded after the wished end.
    ///   - reachesEnd: Whether they include the stream's last.
    static func make(
        _ packets: [CutPacket], reachesEnd: Bool, request: CutPlan.Request
    ) throws(CutPlan.Refusal) -> SmartPlan {
        let opening = request.opening(of: packets.filter { !$0.isHidden }) ?? request.start
        var latest = Int64.min
        var refusal = CutPlan.Refusal(reason: "no keyframe after it is clean")
        for index in packets.indices {
            defer { latest = max(latest, packets[index].pts) }
            let start = packets[index].pts
            // Nothing shown later comes before it.
            guard packets[index].isRefresh, latest < start, start >= opening else { continue }
            guard start < request.end else { break }
            let isAtStart = start == opening
            let head = isAtStart ? [] : packets[..<index].filter { $0.pts >= opening }.map(\.pts).sorted()
            // A single one would be a refresh directly before a refresh: clause 7.4.1.2.4 wants them told apart by a number
            // that the source has already given.
            guard isAtStart || head.count > 1 else { continue }
            guard !packets[..<index].contains(where: { $0.pts >= opening && $0.isHidden && !isAtStart }) else {
                throw CutPlan.Refusal(reason: "the source hides pictures of this part")
            }
            do throws(CutPlan.Refusal) {
                return try make(
                    packets, from: index, head: head, reachesEnd: reachesEnd, request: request)
            } catch {
                refusal = error
                break
            }
        }
        throw refusal
    }

    private static func make(
        _ packets: [CutPacket], from first: Int, head: [Int64], reachesEnd: Bool, request: CutPlan.Request
    ) throws(CutPlan.Refusal) -> SmartPlan {
        let start = packets[first].pts
        let rest = packets[first...]
        guard rest.allSatisfy({ $0.pts >= start }) else {
            throw CutPlan.Refusal(reason: "pictures of before the start follow its keyframe")
        }
        guard !rest.contains(where: { $0.isHidden && $0.pts < request.end }) else {
            throw CutPlan.Refusal(reason: "the source hides pictures of this part")
        }
        func plan(to middle: CutPlan, tail: [Int64], tailSource: Int, end: Int64) throws(CutPlan.Refusal) -> SmartPlan {
            let encoded = (head.isEmpty ? 0 : start - request.start) + (tail.isEmpty ? 0 : end - middle.end)
            guard Double(encoded) <= Double(request.end - request.start) * largestShare else {
                throw CutPlan.Refusal(reason: "most of it lies outside of clean cuts")
            }
            return SmartPlan(
                middle: middle, head: head, tail: tail, headSource: source(of: head.first, packets, before: first),
                tailSource: tailSource, end: end)
        }
        // A cut at the wished end needs no tail.
        var exact = request
        exact.start = start
        if let middle = try? CutPlan.make(Array(rest), reachesEnd: reachesEnd, request: exact) {
            var moved = middle
            moved.packets = middle.packets.lowerBound + first..<middle.packets.upperBound + first
            return try plan(to: moved, tail: [], tailSource: first, end: moved.end)
        }
        guard request.slack == nil else {
            throw CutPlan.Refusal(reason: "the end lies between pictures that need each other")
        }

        var earliestAfter = [Int64](repeating: .max, count: packets.count + 1)
        for index in rest.indices.reversed() {
            earliestAfter[index] = min(earliestAfter[index + 1], packets[index].pts)
        }
        var latest = start
        var bytes: Int64 = 0
        var refresh = first
        var best: (middle: CutPlan, source: Int)?
        for index in rest.indices {
            let packet = packets[index]
            latest = max(latest, packet.pts)
            bytes += Int64(packet.bytes)
            if packet.isRefresh { refresh = index }
            let end = earliestAfter[index + 1]
            guard end > latest, end < request.end else { continue }
            // Not directly behind a refresh: the tail begins with one.
            guard !packet.isRefresh else { continue }
            best = (CutPlan(packets: first..<index + 1, start: start, end: end, bytes: bytes), refresh)
        }
        guard let best else { throw CutPlan.Refusal(reason: "no clean cut lies before its end") }
        let tail = packets[best.middle.packets.upperBound...].map(\.pts)
            .filter { $0 >= best.middle.end && $0 < request.end - request.leniency }.sorted()
        guard !tail.isEmpty else { throw CutPlan.Refusal(reason: "no clean cut lies before its end") }
        // Where the tail begins at a refresh, it is decoded from there.
        let next = packets[best.middle.packets.upperBound...].firstIndex { $0.isRefresh && $0.pts <= best.middle.end }
        return try plan(to: best.middle, tail: tail, tailSource: next ?? best.source, end: request.end)
    }

    /// The last packet before `limit` with which decoding can begin, so that the picture at `time` comes out.
    private static func source(of time: Int64?, _ packets: [CutPacket], before limit: Int) -> Int {
        guard let time else { return limit }
        return packets[..<limit].lastIndex { $0.isRefresh && $0.pts <= time } ?? 0
    }
}
