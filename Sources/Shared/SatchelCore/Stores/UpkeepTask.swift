/// What one process does for all that use a store.
public enum UpkeepTask: String, Hashable, Sendable, CaseIterable {
    case expiry
    case garbage
    /// Looking for sources that nobody needs, among all; once an hour.
    case sources
}
