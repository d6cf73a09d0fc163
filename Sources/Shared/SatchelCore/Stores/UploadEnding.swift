/// Which uploads are ended because no client continues them.
public enum UploadEnding: Hashable, Sendable {
    /// The uploads past their time.
    case due
    /// Those that got nothing for so long, the longest idle first.
    case idle(Duration)
}
