/// Which uploads are ended because nobody goes on with them.
public enum UploadEnding: Hashable, Sendable {
    /// Those whose time is over.
    case due
    /// Those that got nothing for so long, the longest idle first.
    case idle(Duration)
}
