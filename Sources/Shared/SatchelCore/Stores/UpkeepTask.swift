/// What one process does for all that use a store.
public enum UpkeepTask: String, Hashable, Sendable, CaseIterable {
    case expiry
    case garbage
    /// Looks among all sources for those that no job needs, once an hour.
    case sources
}
