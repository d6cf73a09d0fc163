import SatchelCore

/// Writes a list to standard output, as a table, JSON lines or CSV.
struct ListWriter {
    let format: OutputFormat
    /// The header of CSV output.
    private let header: String
    private let output = ResultOutput()
    private var table: TableOutput
    private var hasHeader = false

    init(_ format: OutputFormat, columns: [Table.Column], isProse: Bool = false, header: String) {
        self.format = format
        self.header = header
        table = TableOutput(Table(columns: columns, isProse: isProse))
    }

    /// - Parameter cells: The text of each column.
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
