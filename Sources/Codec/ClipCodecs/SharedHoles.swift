/// Times in which none of a clip's streams has anything, as where a part of the file is missing: one of them alone may rest.
struct SharedHoles {
    private let streams: [Int]
    /// Seconds between two packets of a stream that the order of pictures doesn't explain.
    private let least: Double
    private var ends: [Int: Double] = [:]
    private var holes: [Int: [ClosedRange<Double>]] = [:]

    /// - Parameters:
    ///   - streams: Nothing is looked for in fewer than two.
    ///   - frame: Seconds that a picture is shown.
    init(streams: [Int], frame: Double) {
        self.streams = streams.count > 1 ? streams : []
        least = max(0.25, 6 * frame)
    }

    /// Takes note of the next packet of a stream, and when it begins and ends.
    mutating func add(_ stream: Int, from start: Double, to end: Double) {
        guard streams.contains(stream), start.isFinite, end.isFinite else { return }
        if let last = ends[stream], start - last > least {
            holes[stream, default: []].append(last...start)
        } else if let hole = holes[stream]?.last, hole.contains(start) {
            // Pictures that are shown before the one that came first.
            holes[stream]?.removeLast()
            holes[stream]?.append(hole.lowerBound...start)
        }
        ends[stream] = max(ends[stream] ?? end, end)
    }

    /// Of all such times.
    var seconds: Double {
        guard let first = streams.first, let rest = streams.dropFirst().first else { return 0 }
        return (holes[first] ?? []).reduce(0) { sum, hole in
            (holes[rest] ?? []).reduce(sum) { sum, other in
                sum + max(0, min(hole.upperBound, other.upperBound) - max(hole.lowerBound, other.lowerBound))
            }
        }
    }
}
