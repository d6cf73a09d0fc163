/// How long whoever asks a store of bytes wants to wait for it: requests to one that isn't this machine's own fail then at the
/// latest.
///
/// Of the task, as all that is done for one attachment has the same, whichever way it takes to the store.
public struct StoreTime: Hashable, Sendable {
    /// Nil where the store's own limits are all there is.
    @TaskLocal public static var current: StoreTime?

    /// The end of what reads.
    public var reading: ContinuousClock.Instant
    /// The end of what writes.
    public var writing: ContinuousClock.Instant

    public init(reading: ContinuousClock.Instant, writing: ContinuousClock.Instant) {
        self.reading = reading
        self.writing = writing
    }
}
