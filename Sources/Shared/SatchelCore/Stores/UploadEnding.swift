/// Which uploads are ended because no client continues them.
public enum UploadEnding: Hashable, Sendable {
    /// Those whose time is over.
    case due
    /// Those that got nothing for so long, the longest idle first.
    case idle(Duration)
}
