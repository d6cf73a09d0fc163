import SatchelCore

/// Looks a name up once for all who ask at about the same time: many calls to one receiver are no more than one for the name
/// service, and one whose name service doesn't answer holds up no other.
actor NameLookups {
    private static let limit: Duration = .seconds(5)

    private struct Lookup {
        var task: Task<[IPAddress], any Error>
        var startedAt: ContinuousClock.Instant
        /// Nil while it is underway.
        var endedAt: ContinuousClock.Instant?
    }

    private let resolve: Fetcher.Resolve
    private let memory: Duration
    private var lookups: [String: Lookup] = [:]

    /// - Parameter memory: How long an answer is good; a look at the addresses follows each time.
    init(_ resolve: @escaping Fetcher.Resolve, memory: Duration) {
        self.resolve = resolve
        self.memory = memory
    }

    /// - Throws: What the name service throws; `fetch_failed` where it doesn't answer in time.
    func addresses(of name: String) async throws -> [IPAddress] {
        let lookup = lookup(of: name)
        defer { ended(name, lookup.startedAt) }
        // Who is cancelled is so because all are: their time is longer than a lookup's.
        return try await withTaskCancellationHandler {
            try await lookup.task.value
        } onCancel: {
            lookup.task.cancel()
        }
    }

    private func lookup(of name: String) -> Lookup {
        let now = ContinuousClock.now
        lookups = lookups.filter { $0.value.endedAt.map { now - $0 < memory } ?? true }
        if let known = lookups[name], !known.task.isCancelled { return known }
        let new = Lookup(task: Task { [resolve] in try await Self.look(up: name, by: resolve) }, startedAt: now)
        lookups[name] = new
        return new
    }

    private func ended(_ name: String, _ startedAt: ContinuousClock.Instant) {
        guard lookups[name]?.startedAt == startedAt, lookups[name]?.endedAt == nil else { return }
        lookups[name]?.endedAt = .now
    }

    private static func look(up name: String, by resolve: @escaping Fetcher.Resolve) async throws -> [IPAddress] {
        try await withThrowingTaskGroup(of: [IPAddress].self) { group in
            group.addTask { try await resolve(name) }
            group.addTask {
                try await Task.sleep(for: limit)
                throw AttachmentError.fetchFailed(.dns, reason: "the host name can't be resolved at the moment")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }
}
