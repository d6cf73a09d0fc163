import SatchelCore
import Foundation

/// Writes result lines to standard output in the chosen format, and to a report file.
struct ResultWriter {
    private let format: OutputFormat
    private let showing: Showing
    private let output = ResultOutput()
    private var table = TableOutput(Self.columns)
    private let report: FileHandle?
    private var hasHeader = false

    private static let columns = Table(columns: [
        .init(title: "KIND", width: 9, weight: 3),
        .init(title: "TYPE", width: 15, weight: 2),
        .init(title: "BEFORE", width: 7, isNumber: true, weight: 4),
        .init(title: "AFTER", width: 7, isNumber: true, weight: 5),
        .init(title: "RESULT", width: 18, weight: 6),
        .init(title: "TIME", width: 6, isNumber: true, weight: 3),
        .init(title: "ATTACHMENT", width: 36, weight: 1),
        .init(title: "FILE", width: 0),
    ])

    /// The lines that go to standard output.
    enum Showing {
        /// New results in the table, all results in other formats.
        case changes
        case all
        case nothing
    }

    /// - Parameter report: A file to which all lines are written as JSON.
    init(_ format: OutputFormat, _ showing: Showing = .changes, report: URL? = nil) throws {
        self.format = format
        self.showing = showing
        guard let report else {
            self.report = nil
            return
        }
        let path = report.path(percentEncoded: false)
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else {
            throw CommandFailure("the report '\(path)' can't be written: \(SystemErrorText.current).", status: .usage)
        }
        self.report = file
    }

    mutating func write(_ line: ResultLine) throws {
        if let report { try report.write(contentsOf: try JSON.encode(line) + Data("\n".utf8)) }
        guard showing != .nothing else { return }
        switch format {
        case .jsonl:
            try output.line(JSON.text(line))
        case .table:
            if line.isNews || showing == .all { try table.write(line.cells, line.emphasis) }
        case .csv:
            if !hasHeader { try output.line(CSV.row(ResultLine.csvTitles)) }
            try output.line(CSV.row(line.csvCells))
        }
        hasHeader = true
    }
}

extension ResultLine {
    /// The size of the main rendition, or of all renditions if there is no main one.
    var deliveredBytes: Int64? {
        renditions[.main]?.bytes ?? (renditions.isEmpty ? nil : renditions.values.reduce(0) { $0 + $1.bytes })
    }

    private var type: String { source.decodedType?.rawValue ?? "-" }

    fileprivate var cells: [String] {
        [
            kind?.rawValue ?? "-", type, Quantity.bytes(source.bytes), Quantity.bytes(deliveredBytes),
            [.skipped, .unchanged].contains(state) ? state.rawValue : result ?? state.rawValue,
            Quantity.seconds(seconds), attachment?.rawValue ?? "-", shownPath,
        ]
    }

    fileprivate var emphasis: Emphasis? {
        if isFailure { return .bad }
        return state == .delivered ? nil : .faint
    }

    fileprivate static let csvTitles = [
        "path", "state", "kind", "source_type", "source_bytes", "fidelity", "main_type", "main_bytes", "main_width",
        "main_height", "main_duration", "seconds", "attachment_id", "error", "message",
    ]

    fileprivate var csvCells: [String] {
        let main = renditions[.main]
        return [
            String(decoding: path, as: UTF8.self), state.rawValue, kind?.rawValue ?? "",
            source.decodedType?.rawValue ?? "", source.bytes.map { "\($0)" } ?? "", fidelity?.rawValue ?? "",
            main?.mediaType.rawValue ?? "", main.map { "\($0.bytes)" } ?? "", main?.width.map { "\($0)" } ?? "",
            main?.height.map { "\($0)" } ?? "", main?.duration.map { "\(Quantity.milliseconds($0))" } ?? "",
            "\(Quantity.milliseconds(seconds))",
            attachment?.rawValue ?? "", error?.code.rawValue ?? "",
            error?.message ?? ([reason].compactMap(\.self) + notes).joined(separator: "; "),
        ]
    }
}

/// Comma-separated values as in RFC 4180, with line feeds.
enum CSV {
    static func row(_ cells: [String]) -> String {
        cells.map { cell in
            guard cell.contains(where: { ",\"\n\r".contains($0) }) else { return cell }
            return "\"" + cell.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        }.joined(separator: ",")
    }
}
