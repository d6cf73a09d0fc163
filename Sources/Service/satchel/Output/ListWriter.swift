import SatchelCore

/// A column of a list: as a table has it, its name in CSV, and what it shows of a record.
struct ListColumn<Record> {
    var column: Table.Column
    var name: String
    var text: (Record) -> String

    /// - Parameter width: 0 for the last column, which has the rest.
    init(
        _ title: String, _ name: String, _ width: Int, isNumber: Bool = false, _ text: @escaping (Record) -> String
    ) {
        column = Table.Column(title: title, width: width, isNumber: isNumber)
        self.name = name
        self.text = text
    }
}

/// Writes a list to standard output, as a table, JSON lines or CSV.
struct ListWriter<Record> {
    private let format: OutputFormat
    private let columns: [ListColumn<Record>]
    private let output = ResultOutput()
    private var table: TableOutput
    private var hasHeader = false

    /// - Parameter isProse: Whether the last column has sentences.
    init(_ format: OutputFormat, isProse: Bool = false, _ columns: [ListColumn<Record>]) {
        self.format = format
        self.columns = columns
        table = TableOutput(Table(columns: columns.map(\.column), isProse: isProse))
    }

    /// - Parameter json: The record in JSON lines.
    mutating func write(_ record: Record, json: some Encodable) throws {
        let cells = columns.map { $0.text(record) }
        switch format {
        case .jsonl: try output.line(JSON.text(json))
        case .table: try table.write(cells)
        case .csv:
            if !hasHeader { try output.line(CSV.row(columns.map(\.name))) }
            try output.line(CSV.row(cells))
        }
        hasHeader = true
    }
}
