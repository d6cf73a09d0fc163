internal import Postgres
internal import SatchelCore

/// Where a part of a list ends: the milliseconds that the list is sorted by, and the store's own number.
struct ListPlace: Hashable, Sendable {
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
    /// Makes a page of one element more than are wanted, where there are more.
    ///
    /// - Parameters:
    ///   - elements: Each with the cursor behind it.
    ///   - end: The cursor to where was looked, where that isn't the list's end.
    init(_ elements: [(cursor: String, element: Element)], _ limit: Int, to end: String? = nil) {
        self.init(
            elements: elements.prefix(limit).map(\.element),
            next: elements.count > limit ? elements[limit - 1].cursor : end)
    }
}

extension NotificationList {
    /// The condition for rows of the list, and the column that they are sorted by before their keys. An index has both.
    private var columns: (membership: String, at: String) {
        switch self {
        case .pending: ("state = 'pending'", "coalesce(next_at, 9223372036854775807)")
        case .delivered: ("shown_at IS NOT NULL", "shown_at")
        }
    }

    private var isAscending: Bool { self == .pending }

    /// The rows between two places, sorted: a range of keys at either end's time, and a range of times between them, so that an
    /// index finds each.
    ///
    /// - Parameter limit: Of the rows of each range.
    func rows(
        of tenant: TenantID, category: String? = nil, after start: ListPlace,
        upTo end: ListPlace? = nil, limit: Int
    ) -> Statement {
        let (membership, at) = columns
        let (after, before, direction) = isAscending ? (">", "<", "ASC") : ("<", ">", "DESC")
        var conditions = Conditions()
        var ranges: [String] = []
        // SQLite doesn't see that an index has equal times in the order of keys.
        func add(sortedBy order: String, _ bounds: (inout Conditions) -> Void) {
            conditions = conditions.next()
            conditions.require("tenant = $ AND \(membership)", .raw(tenant))
            if let category { conditions.require("category = $", .text(category)) }
            bounds(&conditions)
            ranges.append(
                """
                SELECT * FROM (
                    SELECT \(at) AS at, key, record FROM notifications WHERE \(conditions.sql) ORDER BY \(order)
                    LIMIT \(limit)) AS range
                """)
        }
        let byKey = "key \(direction)"
        add(sortedBy: byKey) { conditions in
            conditions.require("\(at) = $ AND key \(after) $", .int(start.at), .int(start.key))
            if let end, end.at == start.at { conditions.require("key \(before)= $", .int(end.key)) }
        }
        if end?.at != start.at {
            add(sortedBy: "\(at) \(direction), \(byKey)") { conditions in
                conditions.require("\(at) \(after) $", .int(start.at))
                if let end { conditions.require("\(at) \(before) $", .int(end.at)) }
            }
            if let end {
                add(sortedBy: byKey) { $0.require("\(at) = $ AND key \(before)= $", .int(end.at), .int(end.key)) }
            }
        }
        return Statement(
            "\(ranges.joined(separator: " UNION ALL ")) ORDER BY at \(direction), \(byKey)",
            conditions.values)
    }

    /// Before all rows.
    var start: ListPlace { isAscending ? ListPlace(at: .min, key: .min) : ListPlace(at: .max, key: .max) }
}
