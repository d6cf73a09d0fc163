import CFFmpeg
import StillCodecs

/// Puts together what an MPEG stream's clock tells apart: recordings that were concatenated, and a clock that begins anew.
///
/// Each stream goes over to the new clock by itself: packets of different streams are not handed out in the order in which
/// they are stored.
final class ClockSeams {
    /// Seconds that are added behind each seam.
    private var shifts = [0.0]
    /// For each stream, the last time by its own clock and the number of seams before that time.
    private var streams: [Int: (time: Double, seams: Int)] = [:]
    /// When the last packet so far ends.
    private var end = 0.0
    /// `true` once a seam was found.
    private(set) var isFound = false

    /// Seconds by which a time may lie before the one of the packet that is decoded before, and behind all others: no gap in
    /// a broadcast is as long; and how near streams come over the same seam.
    private static let (back, ahead, near) = (1.0, 10.0, 5.0)

    /// Goes back to the beginning.
    func reset() {
        shifts = [0]
        streams = [:]
        end = 0
    }

    /// Gives `packet` the times that it has where nothing begins anew.
    func follow(_ packet: borrowing Packet, in base: TimeBase) {
        let index = packet.stream
        if let time = packet.dts.map(base.seconds) {
            let last: Double
            var seams: Int
            (last, seams) = streams[index] ?? (time, shifts.count - 1)
            let latest = streams.values.filter { $0.seams == seams }.map(\.time).max() ?? time
            if time < last - Self.back || time > latest + Self.ahead {
                // Another stream may have come over the same seam before.
                let known = shifts.indices.last { $0 > seams && abs(time + shifts[$0] - end) < Self.near }
                if known == nil {
                    let first = packet.isKey ? packet.pts.map(base.seconds) ?? time : time
                    shifts.append(end - first)
                    isFound = true
                }
                seams = known ?? shifts.count - 1
            }
            streams[index] = (time, seams)
        }
        let shift = shifts[min(streams[index]?.seams ?? 0, shifts.count - 1)]
        packet.shift(by: -base.ticks(shift))
        if let time = packet.pts ?? packet.dts { end = max(end, base.seconds(time + packet.duration)) }
    }
}
