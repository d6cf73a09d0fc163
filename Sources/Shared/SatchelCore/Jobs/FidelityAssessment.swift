/// What an attempt at an attachment brought, and the decision on what is delivered of it.
public struct FidelityAssessment: Hashable, Sendable {
    /// What the codec planned.
    public var planned: [RenditionRole]
    /// What is durable, with the effort it was made at.
    public var made: [RenditionRole: Effort]
    /// The source itself was kept as a rendition.
    public var keptOriginal: Bool
    /// Why renditions were made with less effort, or not at all.
    public var shortfalls: [RenditionRole: Shortfall]
    /// What the profile would have kept of the source and what was made lacks.
    public var losses: [Loss]

    public init(
        planned: [RenditionRole], made: [RenditionRole: Effort], keptOriginal: Bool,
        shortfalls: [RenditionRole: Shortfall] = [:], losses: [Loss] = []
    ) {
        self.planned = planned
        self.made = made
        self.keptOriginal = keptOriginal
        self.shortfalls = shortfalls
        self.losses = losses
    }

    /// How much of the promise was kept; nil when there is nothing to deliver.
    ///
    /// `main` decides: at full effort with all that was planned beside it is `full`; with cheaper settings, without a
    /// companion that could have been made or with a loss, `reduced`; without it a thumbnail, poster or waveform is `partial`, else the original.
    public var fidelity: Fidelity? {
        if let main = made[.main] {
            // A sound without the picture of its cover is the sound.
            let complete = planned.allSatisfy { made[$0] != nil || shortfalls[$0] == .undecodable }
            return complete && main == .full && losses.isEmpty ? .full : .reduced
        }
        if !made.isEmpty { return .partial }
        return keptOriginal ? .original : nil
    }

    /// Why not all of the promise was kept, with figures where there are any; nil where it was, and where there is nothing
    /// to deliver: `partial, as main was left out: an estimated 6.2 s at least were more than the 1.9 s left`.
    public var reason: String? {
        guard let fidelity, fidelity != .full else { return nil }
        var clauses: [(cause: String, isMade: Bool, roles: [RenditionRole])] = []
        for role in RenditionRole.allCases where planned.contains(role) || made[role] != nil {
            let (effort, shortfall) = (made[role], shortfalls[role])
            guard effort != .full else { continue }
            let isMade = effort != nil
            let cause =
                shortfall?.cause(isMade: isMade)
                ?? (isMade ? "cheaper settings were asked for" : "the codec ended without it")
            if let index = clauses.firstIndex(where: { $0.cause == cause && $0.isMade == isMade }) {
                clauses[index].roles.append(role)
            } else {
                clauses.append((cause, isMade, [role]))
            }
        }
        let texts =
            clauses.map { clause in
                let names = clause.roles.map(\.rawValue).joined(separator: " and ")
                let verb = "\(clause.roles.count == 1 ? "was" : "were") \(clause.isMade ? "reduced" : "left out")"
                return "\(names) \(verb): \(clause.cause)"
            } + losses.map { "it lacks \($0.what): \($0.reason)" }
        var note = "\(fidelity.rawValue), as "
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
        return order.first { made[$0] != nil } ?? (keptOriginal ? .original : nil)
    }
}

extension Step {
    public static let fidelity = "fidelity"
    /// What was left out or decided as the profile wants it.
    public static let note = "note"
}
