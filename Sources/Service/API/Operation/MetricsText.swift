/// All samples of one name.
struct MetricFamily: Sendable {
    var name: String
    var kind: MetricDescription.Kind
    var samples: [MetricSample]

    init(name: String, kind: MetricDescription.Kind, samples: [MetricSample]) {
        self.name = name
        self.kind = kind
        self.samples = samples
    }

    /// One that is described; `values` have labels in the description's order.
    init(_ name: String, _ values: [([String], Double)]) {
        let description = MetricDescription.byName["satchel_" + name]
        self.init(
            name: "satchel_" + name, kind: description?.kind ?? .gauge,
            samples: values.map { texts, value in
                MetricSample(labels: zip(description?.labels ?? [], texts).map { Label(($0, $1)) }, value: value)
            })
    }

    init(_ name: String, _ value: some BinaryInteger) {
        self.init(name, [([], Double(value))])
    }
}

/// One number.
struct MetricSample: Sendable {
    var suffix = ""
    var labels: [Label]
    var value: Double

    /// As short as it can be said.
    static func text(of value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return "\(Int64(value))" }
        return value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : value.isNaN ? "NaN" : "\(value)"
    }
}

/// Prometheus' text format, version 0.0.4.
enum MetricsText {
    static func of(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families.sorted(by: { $0.name < $1.name }) where !family.samples.isEmpty {
            if let help = MetricDescription.byName[family.name]?.help {
                text += "# HELP \(family.name) \(escape(help, quotes: false))\n"
            }
            text += "# TYPE \(family.name) \(family.kind.name)\n"
            for sample in family.samples {
                text += family.name + sample.suffix
                if !sample.labels.isEmpty {
                    let labels = sample.labels.map { "\($0.name)=\"\(escape($0.value, quotes: true))\"" }
                    text += "{" + labels.joined(separator: ",") + "}"
                }
                text += " \(MetricSample.text(of: sample.value))\n"
            }
        }
        return text
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n", "\r\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
