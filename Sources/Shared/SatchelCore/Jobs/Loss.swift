/// Something of the source that the profile would have kept and that what was made of it lacks: the result is `reduced`.
///
/// What the profile itself leaves out (sides, time beyond its limit, metadata, further sound tracks) is no loss.
public struct Loss: Hashable, Sendable, Codable {
    /// What is missing, for a person, with figures: `0.05 s of 2.00 s of its sound`.
    public var what: String
    /// Why, as a clause for a person: `its packets are damaged`.
    public var reason: String

    public init(_ what: String, because reason: String) {
        self.what = what
        self.reason = reason
    }

    /// `0.05 s of 2.00 s of its sound: its packets are damaged`.
    public var text: String { "\(what): \(reason)" }
}

/// How much of something that is counted could not be decoded, and the decision on what becomes of the rest.
public struct Damage: Hashable, Sendable {
    /// What is counted, and how it is said.
    public enum Unit: Hashable, Sendable {
        case rows
        /// Of rows that are all there, what later scans would have added.
        case detail
        case frames
        /// Frames of an animation that the file ends within, so that nobody knows how many there were.
        case lastFrames
        /// Seconds of what is named: `its sound`.
        case seconds(of: String)
    }

    public var unit: Unit
    public var missing: Double
    /// What the header, or what could be read of the file, said was there.
    public var total: Double

    /// Of the whole, what may be missing before the source counts as corrupt: what few people would notice.
    public static let tolerance = 0.02

    public init(_ unit: Unit, missing: Double, of total: Double) {
        self.unit = unit
        self.missing = missing
        self.total = total
    }

    /// More than this share is missing only in a file that the sender would want to send again.
    public var isTolerable: Bool { missing <= total * Self.tolerance }

    /// What is missing, for a person: `3 of 900 frames`.
    public var what: String {
        switch unit {
        case .rows: "\(Self.count(missing)) of \(Self.count(total)) rows"
        case .detail: "the detail of \(Self.count(missing)) of \(Self.count(total)) rows"
        case .frames: "\(Self.count(missing)) of \(Self.count(total)) frames"
        case .lastFrames where missing == 1: "frame \(Self.count(total)) and whatever came after it"
        case .lastFrames: "\(Self.count(missing)) of its first \(Self.count(total)) frames and whatever came after them"
        case .seconds(let subject): "\(Self.seconds(missing)) s of \(Self.seconds(total)) s of \(subject)"
        }
    }

    /// What the record tells where the rest is delivered; nil where nothing is missing.
    ///
    /// - Parameter reason: A clause: `the file ends within them`.
    /// - Throws: ``AttachmentError/corrupt(reason:)`` where more than ``tolerance`` is missing and the profile doesn't salvage.
    public func loss(because reason: String, when damaged: WhenDamaged) throws(AttachmentError) -> Loss? {
        guard missing > 0 else { return nil }
        guard isTolerable || damaged == .salvage else {
            let isOne = unit == .detail || (unit == .frames && missing == 1)
            throw .corrupt(reason: "\(what) \(isOne ? "is" : "are") missing: \(reason)")
        }
        return Loss(what, because: reason)
    }

    private static func count(_ value: Double) -> String { String(Int64(clampingTo: value)) }

    /// Two digits after the point, cut off rather than rounded to nothing.
    private static func seconds(_ value: Double) -> String {
        let hundredths = max(value > 0 ? 1 : 0, Int64(clampingTo: (value * 100).rounded()))
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
