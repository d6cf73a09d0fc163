internal import SatchelCore
internal import Postgres

/// What a statement is narrowed to, text and values apart.
struct Conditions {
    private var parts: [String] = []
    private(set) var values: [SQLValue] = []

    init() {}

    init(of tenant: TenantID) {
        require("tenant = $", .raw(tenant))
    }

    var sql: String { parts.isEmpty ? "true" : parts.joined(separator: " AND ") }
    var isEmpty: Bool { parts.isEmpty }

    /// - Parameter condition: In which each `$` stands for the next of the values.
    mutating func require(_ condition: String, _ values: SQLValue...) {
        var pieces = condition.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        for (index, value) in values.enumerated() {
            self.values.append(value)
            pieces[index] += "$\(self.values.count)"
        }
        parts.append(pieces.joined())
    }

    /// Conditions of another part of the same statement, whose values come after these.
    func next() -> Conditions {
        var next = self
        next.parts = []
        return next
    }
}
