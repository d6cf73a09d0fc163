/// Why a codec process did not end by itself.
public enum CodecDeath: String, Hashable, Sendable, CaseIterable {
    /// It died of a signal or ended in mid-conversation.
    case crash
    /// It broke the protocol, and was killed for it.
    case breach
    /// It used more memory or processor time than it was granted.
    case limit
    /// It could not be confined or start a thread, or was killed from outside, perhaps for want of memory.
    case starved
    /// It said and did nothing, and was killed for it.
    case silence
    /// It was killed because the job's time was up or nobody wanted it any more.
    case deadline
}
