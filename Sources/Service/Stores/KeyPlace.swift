internal import SatchelCore

/// Where a key stands in the list of a tenant's: newest first, then by id.
struct KeyPlace: Hashable, Sendable {
    /// Of a page.
    private static let most = 1000

    /// Milliseconds.
    var createdAt: Int64
    var id: String

    init(_ key: APIKeyRecord) {
        createdAt = key.createdAt.milliseconds
        id = key.id
    }

    /// - Parameter cursor: Before all where it is none of ours.
    init(cursor: String) {
        let parts = cursor.split(separator: " ")
        createdAt = parts.count == 2 ? Int64(parts[0]) ?? .max : .max
        id = parts.count == 2 ? String(parts[1]) : ""
    }

    var cursor: String { "\(createdAt) \(id)" }

    /// How many rows a page is made of: one more tells whether there is another.
    static func rows(of limit: Int) -> Int { min(max(limit, 1), most) + 1 }

    /// - Parameter keys: From the page's first on.
    static func page(of keys: [APIKeyRecord], limit: Int) -> Page<APIKeyRecord> {
        let elements = Array(keys.prefix(rows(of: limit) - 1))
        return Page(
            elements: elements, next: keys.count > elements.count ? elements.last.map { KeyPlace($0).cursor } : nil)
    }
}
