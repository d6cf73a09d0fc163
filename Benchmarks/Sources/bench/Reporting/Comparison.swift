/// Several who make the same, side by side.
struct Comparison: Sendable, Codable {
    /// For programs: never reworded.
    var name: String
    var title: String
    var columns: [Column]
    var rows: [Row]

    struct Column: Sendable, Codable {
        /// For programs: never reworded.
        var name: String
        var title: String
        var unit: Unit
    }

    struct Row: Sendable, Codable {
        var name: String
        var title: String
        var role: Role
        var figures: [Figure]
        /// Why there are no figures.
        var absence: String?

        subscript(column: String) -> Spread? { figures.first { $0.column == column }?.spread }
    }

    struct Figure: Sendable, Codable {
        var column: String
        var spread: Spread
    }

    /// What somebody is in a comparison.
    enum Role: String, Sendable, Codable {
        /// Satchel in one of its forms.
        case own
        case peer
        /// What decoder and encoder themselves cost: nobody can be below.
        case floor
    }

    subscript(row: String) -> Row? { rows.first { $0.name == row } }
}
