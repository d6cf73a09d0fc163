import Foundation

extension SatchelNotification {
    /// The pending answer to a notification. It is given once: when all attachments are there, when the time limit is reached, or
    /// when ``expire()`` is called.
    public final class Answer: Sendable {
        private let give: Locked<(@Sendable () -> Void)?>
        private let work = Locked<[Task<Void, Never>]>([])

        init<Shown>(
            _ fetch: NotificationFetch<Shown>, within seconds: TimeInterval,
            with handler: @escaping @Sendable ([Shown]) -> Void
        ) {
            give = Locked { handler(fetch.finish()) }
            work.withLock { work in
                work = [
                    Task {
                        await fetch.run(within: seconds)
                        expire()
                    }
                ]
            }
        }

        /// - Parameters:
        ///   - content: As it came.
        ///   - open: Makes of it what is shown. Where it throws, or takes too long, the content is shown as it came.
        ///   - fetch: What the content links to.
        init<Content: Sendable, Shown>(
            _ content: Content, opening open: @escaping @Sendable (Content) async throws -> Content,
            fetching fetch: @escaping @Sendable (Content) -> NotificationFetch<Shown>, within seconds: TimeInterval,
            with handler: @escaping @Sendable (Content, [Shown]) -> Void
        ) {
            let stage = Locked<Stage<Content, Shown>>(.opening(content))
            give = Locked {
                let (content, fetch) = stage.withLock { stage in
                    defer { stage = .given }
                    return stage.current
                }
                if let content { handler(content, fetch?.finish() ?? []) }
            }
            work.withLock { work in
                work = [
                    Task {
                        let opened = (try? await open(content)) ?? content
                        let fetch = fetch(opened)
                        let isInTime = stage.withLock { stage in
                            guard case .opening = stage else { return false }
                            stage = .fetching(opened, fetch)
                            return true
                        }
                        guard isInTime else { return }
                        await fetch.run(within: seconds)
                        expire()
                    },
                    // Who opens may take as long as it likes: nobody waits for that.
                    Task {
                        try? await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 86_400) * 1e9))
                        expire()
                    },
                ]
            }
        }

        /// An answer that was given.
        init() {
            give = Locked(nil)
        }

        private enum Stage<Content: Sendable, Shown: Sendable>: Sendable {
            case opening(Content)
            case fetching(Content, NotificationFetch<Shown>)
            case given

            /// What can be shown.
            var current: (Content?, NotificationFetch<Shown>?) {
                switch self {
                case .opening(let content): (content, nil)
                case .fetching(let content, let fetch): (content, fetch)
                case .given: (nil, nil)
                }
            }
        }

        /// Answers immediately, on this thread, with the files fetched so far. It has no effect after the answer. Call it in
        /// `serviceExtensionTimeWillExpire`.
        public func expire() {
            let give = give.withLock { give in
                defer { give = nil }
                return give
            }
            guard let give else { return }
            give()
            work.withLock { $0.forEach { $0.cancel() } }
        }

        /// Waits until nothing is fetched any more.
        func end() async {
            for task in work.withLock(\.self) { await task.value }
        }
    }
}
