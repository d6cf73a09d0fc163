internal import SatchelCore

/// A part of a list: from a place on, and before another.
struct PlaceRange: Hashable, Sendable {
    var start: String?
    var end: String?

    /// How much later something may have been created than what has a later place: several processes and clocks give those
    /// out. What is created is still compared; this only says where there is nothing to look for.
    static let slack: Duration = .seconds(60)
}

/// What there are lists of, newest first.
enum ListedTable: String, Sendable {
    case jobs
    case attachments

    /// The column that grows with time, and that a cursor is a value of.
    var order: String {
        switch self {
        case .jobs: "key"
        case .attachments: "id"
        }
    }

    /// The column that names the job of a row.
    var job: String {
        switch self {
        case .jobs: "key"
        case .attachments: "job"
        }
    }

    /// The first place with a number: a job's key, or the milliseconds in an attachment's id.
    func place(_ number: Int64) -> String {
        switch self {
        case .jobs: String(number)
        case .attachments: AttachmentID.least(at: number).rawValue
        }
    }
}

/// Finds by halving the least number of a range from which on something is true; the range's end where it never is.
struct Halving: Hashable, Sendable {
    private var low: Int64
    private var high: Int64

    init(_ range: Range<Int64>) {
        (low, high) = (range.lowerBound, range.upperBound)
    }

    /// What is to be looked at next; nil once the least is known.
    var next: Int64? { low < high ? low + (high - low) / 2 : nil }

    /// What was looked for, once it is known.
    var found: Int64 { low }

    /// - Parameter isReached: Of ``next``.
    mutating func take(_ isReached: Bool) {
        guard let middle = next else { return }
        if isReached { high = middle } else { low = middle + 1 }
    }
}

extension AttachmentID {
    /// The least that could have been made at a millisecond.
    static func least(at milliseconds: Int64) -> AttachmentID {
        let digits = String(milliseconds, radix: 16)
        let time = String(repeating: "0", count: max(0, 12 - digits.count)) + digits
        return AttachmentID(rawValue: "\(time.prefix(8))-\(time.suffix(4))-0000-0000-000000000000")
    }
}
