internal import Attachments

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
    init(
        _ elements: [(NotificationPlace, Element)], _ limit: Int, cursor: (NotificationPlace) -> String = \.cursor
    ) {
        self.init(
            elements: elements.prefix(limit).map(\.1),
            next: elements.count > limit ? cursor(elements[limit - 1].0) : nil)
    }
}
