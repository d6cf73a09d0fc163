/// What becomes of the place of a medium that failed.
public enum FailureMode: String, Hashable, Sendable, Codable, CaseIterable {
    /// It is removed; the text stays.
    case drop
    /// It stays as it was.
    case keep
    /// The payload is not enriched.
    case error
}
