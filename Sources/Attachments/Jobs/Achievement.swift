/// What an attempt at an attachment brought, and the decision on what is delivered of it.
public struct Achievement: Hashable, Sendable {
    /// What the codec planned.
    public var planned: [RenditionRole]
    /// What is durable, with the effort it was made at.
    public var made: [RenditionRole: Effort]
    /// The source itself was kept as a rendition.
    public var keptOriginal: Bool

    public init(planned: [RenditionRole], made: [RenditionRole: Effort], keptOriginal: Bool) {
        self.planned = planned
        self.made = made
        self.keptOriginal = keptOriginal
    }

    /// How much of the promise was kept; nil when there is nothing to deliver.
    ///
    /// `main` decides: at full effort with all that was planned beside it is `full`; with cheaper settings or without a
    /// companion, `reduced`; without it a thumbnail, poster or waveform is `partial`, else the original.
    public var fidelity: Fidelity? {
        if let main = made[.main] {
            let complete = planned.allSatisfy { made[$0] != nil }
            return complete && main == .full ? .full : .reduced
        }
        if !made.isEmpty { return .partial }
        return keptOriginal ? .original : nil
    }

    /// The rendition to show.
    public var best: RenditionRole? {
        let order: [RenditionRole] = [.main, .poster, .thumbnail, .waveform]
        return order.first { made[$0] != nil } ?? (keptOriginal ? .original : nil)
    }
}
