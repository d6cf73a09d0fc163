import Testing

/// Waits until it is so, at most a minute.
func eventually(
    _ isSo: () async throws -> Bool, sourceLocation: Testing.SourceLocation = #_sourceLocation
) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await !isSo() {
        guard ContinuousClock.now < deadline else {
            Issue.record("it never became so", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(50))
    }
}
