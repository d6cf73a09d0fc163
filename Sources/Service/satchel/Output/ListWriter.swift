import SatchelCore

/// Writes what a command lists to standard output, each as a row or as a line of JSON.
struct ListWriter {
    let format: OutputFormat
    /// Of the table's columns, as CSV has them.
    private let header: String
    private let output = ResultOutput()
    private var table: TableOutput
    private var hasHeader = false

    init(_ format: OutputFormat, columns: [Table.Column], isProse: Bool = false, header: String) {
        self.format = format
        self.header = header
        table = TableOutput(Table(columns: columns, isProse: isProse))
    }

    /// - Parameter cells: What the columns show of it.
    mutating func write(_ record: some Encodable, cells: [String]) throws {
        switch format {
        case .jsonl: try output.line(JSON.text(record))
        case .table: try table.write(cells)
        case .csv:
            if !hasHeader { try output.line(header) }
            try output.line(CSV.row(cells))
        }
        hasHeader = true
    }
}
