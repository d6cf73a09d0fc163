import SatchelCore

/// What a fetch may take.
public struct FetchLimits: Hashable, Sendable {
    /// Bytes of the body.
    public var bytes: Int64
    /// From the first look at the URL until the bytes are durable, redirects included.
    public var time: Duration
    /// For one connection, TLS aside.
    public var connect: Duration
    /// Bytes a second that the body must bring, as an average over ``rateWindow``. A browser on a slow phone network
    /// gets ten times the default.
    public var minimumRate: Int64
    public var rateWindow: Duration

    public init(
        bytes: Int64 = 1_000_000_000, time: Duration = .seconds(300), connect: Duration = .seconds(10),
        minimumRate: Int64 = 1024, rateWindow: Duration = .seconds(10)
    ) {
        self.bytes = bytes
        self.time = time
        self.connect = connect
        self.minimumRate = minimumRate
        self.rateWindow = rateWindow
    }
}

/// Tells whether bytes come too slowly: fewer than `minimum` a second on average over the last `window`.
struct RateMeter {
    private let minimum: Int64
    private let window: Duration
    /// Totals at moments, oldest first; the first is the newest that is at least a window old.
    private var samples: [(bytes: Int64, at: Duration)] = []

    init(minimum: Int64, window: Duration) {
        self.minimum = minimum
        self.window = window
    }

    /// - Parameters:
    ///   - bytes: All that came so far.
    ///   - elapsed: Time that the sender had, never less than before.
    mutating func isTooSlow(bytes: Int64, after elapsed: Duration) -> Bool {
        samples.append((bytes, elapsed))
        while samples.count > 1, elapsed - samples[1].at >= window { samples.removeFirst() }
        guard let oldest = samples.first, elapsed - oldest.at >= window else { return false }
        let due = Double(minimum) * (elapsed - oldest.at).inSeconds
        return Double(bytes - oldest.bytes) < due
    }
}
