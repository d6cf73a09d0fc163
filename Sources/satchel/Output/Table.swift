/// Lines of columns for people. The last column is as wide as it is; the others have the widths they are made with.
struct Table {
    struct Column {
        var title: String
        var width: Int
        var isNumber = false
    }

    let columns: [Column]

    var header: String {
        row(columns.map(\.title))
    }

    func row(_ cells: [String]) -> String {
        var line = ""
        for (index, (column, cell)) in zip(columns, cells).enumerated() {
            let isLast = index == columns.count - 1
            let space = String(repeating: " ", count: max(0, column.width - cell.count))
            if index > 0 { line += "  " }
            line += column.isNumber ? space + cell : cell + (isLast ? "" : space)
        }
        return line
    }
}

/// A table whose rows are all known: every column as wide as its widest cell.
func table(_ titles: [String], _ rows: [[String]], numbers: Set<Int> = []) -> String {
    let columns = titles.enumerated().map { index, title in
        Table.Column(
            title: title, width: ([title] + rows.map { $0[index] }).map(\.count).max() ?? 0,
            isNumber: numbers.contains(index))
    }
    let table = Table(columns: columns)
    return ([table.header] + rows.map(table.row)).joined(separator: "\n")
}
