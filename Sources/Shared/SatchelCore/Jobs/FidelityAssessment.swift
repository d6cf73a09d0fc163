/// What an attempt at an attachment brought, and the decision on what is delivered of it.
public struct FidelityAssessment: Hashable, Sendable {
    /// What the codec planned.
    public var planned: [RenditionRole]
    /// The part that is durable.
    public var made: Set<RenditionRole>
    /// The source itself was kept as a rendition.
    public var keptOriginal: Bool
    /// What was found of the source and while renditions were made.
    public var diagnosis: Diagnosis

    public init(
        planned: [RenditionRole], made: Set<RenditionRole>, keptOriginal: Bool, diagnosis: Diagnosis = Diagnosis()
    ) {
        self.planned = planned
        self.made = made
        self.keptOriginal = keptOriginal
        self.diagnosis = diagnosis
    }

    /// Everything that was promised and isn't delivered: what was found, then the renditions of which nothing was said.
    public var losses: [Finding] {
        var losses = diagnosis.losses
        for role in planned where role != .original && !made.contains(role) {
            let isTold = (losses + diagnosis.omissions).contains { $0.part?.rawValue == role.rawValue }
            if !isTold { losses.append(Finding(.notMade, role)) }
        }
        // What the picture is missed for comes first.
        return losses.filter { $0.part == .main } + losses.filter { $0.part != .main }
    }

    /// How much of the promise was kept; nil when there is nothing to deliver.
    ///
    /// `main` decides: without a loss it is `full`, else `reduced`; without it a thumbnail, poster or waveform is
    /// `partial`, else the original.
    public var fidelity: Fidelity? {
        if made.contains(.main) { return losses.isEmpty ? .full : .reduced }
        if !made.isEmpty { return .partial }
        return keptOriginal ? .original : nil
    }

    /// Why not all of the promise was kept, with figures where there are any; nil where it was, and where there is nothing
    /// to deliver: `partial: main: an estimated 6.20 s were more than the 1.90 s left`.
    public var reason: String? {
        guard let fidelity, fidelity != .full else { return nil }
        let texts = losses.map(\.text)
        var note = "\(fidelity.rawValue): "
        for (index, text) in texts.enumerated() {
            guard note.count + text.count + 2 <= Self.noteLength - 12 else {
                let rest = Self.noteLength - 12 - note.count
                note += index == 0 ? "\(text.prefix(rest))…" : "; and \(texts.count - index) more"
                break
            }
            note += (index > 0 ? "; " : "") + text
        }
        return note + (texts.isEmpty ? "nothing more was planned" : "")
    }

    /// Characters of a note, at most.
    private static let noteLength = 200

    /// ``reason`` as the record tells it.
    public var step: Step? { reason.map { Step(name: Step.fidelity, seconds: 0, note: $0) } }

    /// The rendition to show.
    public var best: RenditionRole? {
        let order: [RenditionRole] = [.main, .poster, .thumbnail, .waveform]
        return order.first(where: made.contains) ?? (keptOriginal ? .original : nil)
    }
}

extension Step {
    public static let fidelity = "fidelity"
    /// What was left out or decided as the profile wants it.
    public static let note = "note"
}
