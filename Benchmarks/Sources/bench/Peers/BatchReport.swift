import Foundation

/// What `satchel batch` says of each file, from its own report.
struct BatchReport {
    struct Line: Decodable {
        struct Rendition: Decodable {
            var mediaType: String
        }
        struct Failure: Decodable {
            var code: String
            var message: String
        }
        var path: String
        var state: String
        var seconds: Double
        var error: Failure?
        var renditions: [String: Rendition]

        var isDelivered: Bool { state == "delivered" }
    }

    let usage: Usage
    let lines: [Line]
    let command: Command

    /// Runs a batch, whether all is delivered or not.
    init(_ batch: Command, _ workplace: Workplace) throws {
        let report = workplace.scratch.appending(path: "report-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: report) }
        var command = batch
        command.arguments += ["--report", report.path(percentEncoded: false)]
        // 1: some were not delivered.
        command.acceptedStatuses = [0, 1]
        usage = try command.run()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        lines = try Data(contentsOf: report).split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(Line.self, from: $0)
        }
        self.command = command
    }

    /// Why not all is there that is measured, by the file's name.
    ///
    /// - Parameter wanted: Media types by role.
    func refusals(wanted: [String: String]) -> [String: String] {
        let found = lines.compactMap { line -> (String, String)? in
            let name = URL(filePath: line.path).lastPathComponent
            guard line.isDelivered else {
                let reason = line.error.map { "\($0.code): \($0.message)" } ?? line.state
                return (name, "Satchel doesn't deliver it: \(reason)")
            }
            let missing = wanted.filter { line.renditions[$0.key]?.mediaType != $0.value }.keys.sorted()
            return missing.isEmpty ? nil : (name, "Satchel makes another \(missing.joined(separator: " and ")) of it")
        }
        return Dictionary(found) { first, _ in first }
    }

    /// The same by the paths of sources whose names are all different.
    func refusals(of sources: [String], wanted: [String: String]) -> [String: String] {
        let reasons = refusals(wanted: wanted)
        return Dictionary(
            uniqueKeysWithValues: sources.compactMap { source in
                reasons[URL(filePath: source).lastPathComponent].map { (source, $0) }
            })
    }
}
