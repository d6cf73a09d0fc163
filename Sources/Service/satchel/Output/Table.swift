import SatchelCore

/// A table for people.
///
/// On a terminal, rows do not wrap. The last column gets the remaining width and is shortened in its middle. If that is too
/// little, other columns are omitted, starting with the lowest weight and, among equals, the rightmost. Elsewhere, all
/// columns are shown in full.
struct Table {
    struct Column {
        var title: String
        var width: Int
        var isNumber = false
        /// Columns with a lower weight are omitted first.
        var weight = 0
    }

    let columns: [Column]
    /// Whether the last column has sentences, which are wrapped instead of shortened.
    var isProse = false

    /// The minimum width of the last column.
    private static let least = 20

    /// Returns the titles of the columns that fit in `width`; `nil` for all columns.
    func header(in width: Int? = Terminal.output.width) -> String {
        row(columns.map(\.title), in: width)
    }

    /// Returns a row with the columns that fit in `width`.
    func row(_ cells: [String], in width: Int? = Terminal.output.width) -> String {
        let cells = cells.map { $0.showingInvisible() }
        var line = ""
        for index in shown(in: width) {
            let column = columns[index]
            if !line.isEmpty { line += "  " }
            if index < columns.count - 1 || column.isNumber {
                let space = String(repeating: " ", count: max(0, column.width - cells[index].columns))
                line += column.isNumber ? space + cells[index] : cells[index] + space
            } else if let width, isProse {
                let indent = line.columns
                line += cells[index].wrapped(to: max(Self.least, width - indent))
                    .joined(separator: "\n" + String(repeating: " ", count: indent))
            } else {
                line += width.map { cells[index].shortened(to: max(1, $0 - line.columns)) } ?? cells[index]
            }
        }
        guard let width, !isProse else { return line }
        // A cell that is wider than its column can make the row too long.
        return line.columns > width ? String(line.prefix(columns: width)) : line
    }

    /// The indices of the columns that fit in `width`.
    func shown(in width: Int?) -> [Int] {
        var shown = Array(columns.indices)
        guard let width else { return shown }
        guard let last = shown.popLast() else { return shown }
        let least = columns[last].isNumber ? columns[last].width : Self.least
        func needed() -> Int { shown.reduce(least) { $0 + columns[$1].width + 2 } }
        while needed() > width, let lightest = shown.map({ columns[$0].weight }).min() {
            shown.lastIndex { columns[$0].weight == lightest }.map { _ = shown.remove(at: $0) }
        }
        return shown + [last]
    }
}

/// Writes rows of a table to standard output one by one, below a header.
///
/// If the terminal's width changes and other columns fit, the header is written again.
struct TableOutput {
    let table: Table
    private let output = ResultOutput()
    private var shown: [Int] = []

    init(_ table: Table) {
        self.table = table
    }

    mutating func write(_ cells: [String], _ emphasis: Emphasis? = nil) throws {
        let width = Terminal.output.width
        let columns = table.shown(in: width)
        if columns != shown { try output.line(table.header(in: width)) }
        shown = columns
        let row = table.row(cells, in: width)
        try output.line(Terminal.output.showsColors ? emphasis?.applied(to: row) ?? row : row)
    }
}

/// Returns a table in which each column is as wide as its widest cell.
func table(_ titles: [String], _ rows: [[String]], numbers: Set<Int> = []) -> String {
    let columns = titles.enumerated().map { index, title in
        Table.Column(
            title: title, width: ([title] + rows.map { $0[index] }).map(\.columns).max() ?? 0,
            isNumber: numbers.contains(index))
    }
    let table = Table(columns: columns, isProse: true)
    return ([table.header()] + rows.map { table.row($0) }).joined(separator: "\n")
}

/// Returns a line for each fact, whose value begins in a column.
func aligned(_ facts: [(String, String)], at column: Int) -> [String] {
    facts.map { name, value in name + String(repeating: " ", count: max(1, column - name.count)) + value }
}
