/// Something that is measured by itself: one file in this folder, and one line in ``all``.
struct Part: Sendable {
    /// Named by it in `--only` and in the results: never changed.
    let name: String
    /// What it measures, in a line.
    let summary: String
    /// Whether `make bench` has it, or `make bench-full` alone.
    let isInShortRun: Bool
    let measure: @Sendable (RunContext) throws -> Findings

    init(
        _ name: String, _ summary: String, isInShortRun: Bool = true,
        measure: @escaping @Sendable (RunContext) throws -> Findings
    ) {
        self.name = name
        self.summary = summary
        self.isInShortRun = isInShortRun
        self.measure = measure
    }

    /// In the order in which they are measured.
    static let all: [Part] = [
        .photographs,
        .sizes,
        .storm,
        .cores,
        .isolation,
        .animations,
        .frames,
        .mixed,
        .trims,
        .clips,
        .placeholders,
        .memory,
        .store,
        .growth,
        .jobs,
        .lanes,
        .fairness,
        .callbacks,
        .delivery,
        .soak,
        .overload,
        .deadlines,
    ]

    /// For `--list`.
    var line: String {
        let name = name + (isInShortRun ? " *" : "")
        return name + String(repeating: " ", count: max(1, 16 - name.count)) + summary
    }
}

/// What a part found out.
struct Findings: Sendable {
    var measurements: [Measurement] = []
    var comparisons: [Comparison] = []
    var plots: [Plot] = []
    /// What is to be said below the tables.
    var notes: [String] = []

    init(
        _ measurements: [Measurement] = [], comparisons: [Comparison] = [], plots: [Plot] = [], notes: [String] = []
    ) {
        self.measurements = measurements
        self.comparisons = comparisons
        self.plots = plots
        self.notes = notes
    }
}
