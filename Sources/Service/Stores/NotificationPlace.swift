internal import SatchelCore

/// Where a part of a list of notifications ends: what it is sorted by, and the store's own number.
struct NotificationPlace: Hashable, Sendable {
    var at: Int64
    var key: Int64

    init(at: Int64, key: Int64) {
        self.at = at
        self.key = key
    }

    /// Nil for what isn't one.
    init?(_ cursor: String?) {
        let parts = cursor?.split(separator: "_").compactMap { Int64($0) } ?? []
        guard parts.count == 2 else { return nil }
        self.init(at: parts[0], key: parts[1])
    }

    var cursor: String { "\(at)_\(key)" }
}

extension Page {
    /// Of one element more than are wanted, where there are more.
    ///
    /// - Parameter end: To where was looked, where that isn't the list's end.
    init(
        _ elements: [(NotificationPlace, Element)], _ limit: Int, to end: NotificationPlace? = nil,
        cursor: (NotificationPlace) -> String = \.cursor
    ) {
        self.init(
            elements: elements.prefix(limit).map(\.1),
            next: elements.count > limit ? cursor(elements[limit - 1].0) : end.map(cursor))
    }
}

extension NotificationList {
    /// Which rows of the table are in it.
    var membership: String {
        switch self {
        case .pending: "state = 'pending'"
        case .delivered: "shown_at IS NOT NULL"
        }
    }

    /// What its rows are sorted by, beside their keys. An index has both.
    var at: String {
        switch self {
        case .pending: "coalesce(next_at, 9223372036854775807)"
        case .delivered: "shown_at"
        }
    }

    /// A row's place in terms of that of one before it.
    var after: String {
        switch self {
        case .pending: ">"
        case .delivered: "<"
        }
    }

    /// The same, where it isn't after that one.
    var upTo: String {
        switch self {
        case .pending: "<="
        case .delivered: ">="
        }
    }

    var direction: String {
        switch self {
        case .pending: "ASC"
        case .delivered: "DESC"
        }
    }

    var order: String { "\(at) \(direction), key \(direction)" }

    /// Before all rows.
    var start: NotificationPlace {
        switch self {
        case .pending: NotificationPlace(at: .min, key: .min)
        case .delivered: NotificationPlace(at: .max, key: .max)
        }
    }
}
