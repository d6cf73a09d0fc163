import SatchelCore

/// Lines of columns for people.
///
/// On a terminal a row never wraps: the last column gets what is left and is shortened in its middle, and where it would
/// get too little others are left out, those with the least weight first, among equals the rightmost. Elsewhere every
/// column is there, with the width that it is made with, and the last is as wide as it is.
struct Table {
    struct Column {
        var title: String
        var width: Int
        var isNumber = false
        /// How long it stays where there is little room.
        var weight = 0
    }

    let columns: [Column]
    /// Whether the last column has sentences, which are continued on further lines instead of being shortened.
    var isProse = false

    /// What the last column keeps, at the cost of others.
    private static let least = 20

    /// The titles of the columns that have room in `width`; nil for all.
    func header(in width: Int? = Terminal.output.width) -> String {
        row(columns.map(\.title), in: width)
    }

    /// A cell for every column, of which those are shown that have room in `width`.
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
        // A cell that is wider than its column may have pushed the others out.
        return line.columns > width ? String(line.prefix(columns: width)) : line
    }

    /// The indices of the columns that have room in `width`.
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

/// Writes the rows of a table to standard output as they come, beneath a header.
///
/// Where a terminal's width changes so that other columns have room, the header is written again.
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
        try output.line(Terminal.output.showsColours ? emphasis?.applied(to: row) ?? row : row)
    }
}

/// A table whose rows are all known: every column as wide as its widest cell.
func table(_ titles: [String], _ rows: [[String]], numbers: Set<Int> = []) -> String {
    let columns = titles.enumerated().map { index, title in
        Table.Column(
            title: title, width: ([title] + rows.map { $0[index] }).map(\.columns).max() ?? 0,
            isNumber: numbers.contains(index))
    }
    let table = Table(columns: columns, isProse: true)
    return ([table.header()] + rows.map { table.row($0) }).joined(separator: "\n")
}
