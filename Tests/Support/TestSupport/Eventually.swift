public import Testing

/// What was waited for, and didn't come in time.
public struct NotInTime: Error, CustomStringConvertible {
    var what: String
    var limit: Duration
    var place: SourceLocation

    public var description: String { "not in \(limit): \(what), at \(place)" }
}

/// How long is waited for what comes within a second on an idle machine: on a busy one hundreds of tests take turns.
public let patience: Duration = .seconds(300)

/// What `look` finds, as soon as it does. It is called every few milliseconds, at least once.
///
/// - Throws: ``NotInTime`` after `limit`.
public func whenFound<Found>(
    _ what: String = "what is looked for", within limit: Duration = patience,
    sourceLocation: SourceLocation = #_sourceLocation, _ look: () async throws -> Found?
) async throws -> Found {
    let end = ContinuousClock.now + limit
    while true {
        if let found = try await look() { return found }
        guard ContinuousClock.now < end else { throw NotInTime(what: what, limit: limit, place: sourceLocation) }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// Waits until `isSo` says so.
///
/// - Throws: ``NotInTime`` after `limit`.
public func eventually(
    _ what: String = "it is so", within limit: Duration = patience,
    sourceLocation: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
) async throws {
    try await whenFound(what, within: limit, sourceLocation: sourceLocation) { try await isSo() ? () : nil }
}
