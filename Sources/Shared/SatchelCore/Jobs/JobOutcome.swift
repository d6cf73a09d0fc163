/// What a job comes to when its attachments have come to something.
public enum JobOutcome {
    /// The final state of a job from its attachments' results and its mode.
    ///
    /// Lenient: delivered if one attachment was. Strict: delivered only if all were.
    public static func state(of outcomes: [AttachmentOutcome], mode: JobMode) -> WorkState {
        let delivered = outcomes.count { if case .success = $0.result { true } else { false } }
        return switch mode {
        case .lenient: delivered > 0 ? .delivered : .failed
        case .strict: delivered == outcomes.count && !outcomes.isEmpty ? .delivered : .failed
        }
    }
}
