import ArgumentParser

enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, jsonl, csv
}

struct FormatOptions: ParsableArguments {
    @Option(help: "Output format.")
    var format = OutputFormat.table
}
