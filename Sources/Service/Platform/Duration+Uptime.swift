import Glibc

extension Duration {
    /// Since the machine started, asleep or not: by a clock that nobody sets.
    package static var sinceStart: Duration {
        var time = timespec()
        // It can't fail: the clock is there, and so is the place for it.
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
