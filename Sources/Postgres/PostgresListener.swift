internal import Synchronization

/// Hears what is notified on some channels, on a connection of its own, which is made anew when it is lost. Wake-ups, not
/// truth: what comes while there is no connection is missed.
public final class PostgresListener: Sendable {
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - channels: Names that the program has, not its users.
    ///   - heed: Called with the channel of each notification, and with each channel after each beginning, as something may
    ///     have been missed. It must not block.
    public init(
        _ parameters: PostgresParameters, to channels: [String], _ heed: @escaping @Sendable (String) -> Void
    ) {
        task = Task {
            var pause = PostgresPool.firstPause
            while !Task.isCancelled {
                if await Self.listen(parameters, channels, heed) {
                    pause = PostgresPool.firstPause
                } else {
                    pause = min(pause * 2, PostgresPool.longestPause)
                }
                try? await Task.sleep(for: pause)
            }
        }
    }

    deinit {
        task.cancel()
    }

    /// - Returns: When the connection is lost; false where there was none.
    private static func listen(
        _ parameters: PostgresParameters, _ channels: [String], _ heed: @escaping @Sendable (String) -> Void
    ) async -> Bool {
        guard let connection = try? await PostgresConnection.connect(parameters) else { return false }
        let (gone, end) = AsyncStream.makeStream(of: Void.self)
        do {
            try await connection.listen(to: channels) { channel in
                if channel.isEmpty { end.finish() } else { heed(channel) }
            }
            for channel in channels { heed(channel) }
            // Ends as well when the task is cancelled.
            for await _ in gone {}
            await connection.close()
            return true
        } catch {
            await connection.close()
            return false
        }
    }
}
