/// Why a rendition was made more cheaply than its profile promises, or not at all. Times are in seconds.
public enum Shortfall: Hashable, Sendable, Codable {
    /// Before it was begun it was expected to take `needed`, and `left` were left.
    case estimate(needed: Double, left: Double)
    /// While it was made it turned out to need so much more.
    case pace(needed: Double, left: Double)
    /// The time was up before it was done.
    case timeUp
    /// What it is made of could not be decoded.
    case undecodable

    /// For a person, with the figures: `an estimated 4.1 s were more than the 2.0 s left`.
    ///
    /// - Parameter isMade: Whether it was made more cheaply; else it was left out.
    public func cause(isMade: Bool) -> String {
        switch self {
        case .estimate(let needed, let left):
            "an estimated \(Self.text(needed))\(isMade ? "" : " at least") were more than the \(Self.text(left)) left"
        case .pace(let needed, let left):
            "at full effort \(Self.text(needed)) more were needed, and \(Self.text(left)) were left"
        case .timeUp: "the time was up"
        case .undecodable: "what it is made of could not be decoded"
        }
    }

    /// `4.1 s`, and `40 ms` where it is less than a tenth of a second.
    private static func text(_ seconds: Double) -> String {
        let milliseconds = Int((min(max(seconds, 0), 1e6) * 1000).rounded())
        if milliseconds < 100 { return "\(milliseconds) ms" }
        let tenths = (milliseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
