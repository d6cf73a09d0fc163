import Foundation

extension SatchelNotification {
    /// The answer to a notification, under way: it is given once, when all is there, when its time is up, or when it
    /// expires, whichever comes first.
    public final class Answer: Sendable {
        private let give: Locked<(@Sendable () -> Void)?>
        private let fetching = Locked<Task<Void, Never>?>(nil)

        init<Shown>(
            _ fetch: NotificationFetch<Shown>, within seconds: TimeInterval,
            with handler: @escaping @Sendable ([Shown]) -> Void
        ) {
            give = Locked { handler(fetch.finish()) }
            fetching.withLock { task in
                task = Task {
                    await fetch.run(within: seconds)
                    expire()
                }
            }
        }

        /// An answer that was given.
        init() {
            give = Locked(nil)
        }

        /// Answers at once, on this thread, with what is on the disk; does nothing where that was done. For
        /// `serviceExtensionTimeWillExpire`.
        public func expire() {
            let give = give.withLock { give in
                defer { give = nil }
                return give
            }
            guard let give else { return }
            give()
            fetching.withLock { $0?.cancel() }
        }

        /// Waits until nothing is fetched any more.
        func end() async {
            await fetching.withLock(\.self)?.value
        }
    }
}
