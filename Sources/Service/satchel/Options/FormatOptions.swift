import ArgumentParser

enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, jsonl, csv
}

struct FormatOptions: ParsableArguments {
    @Option(help: "How results are written to standard output.")
    var format = OutputFormat.table
}
