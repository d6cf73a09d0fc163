import Foundation

/// Counts that the machines of a shared run exchange, in addition to the records.
struct RunCounts: Codable {
    /// Files without a job in the run: unchanged and rejected ones.
    var listed = Summary()
    var unwritten = Unwritten()

    /// Stored files that could not be written to `--output`.
    struct Unwritten: Codable, Sendable {
        private(set) var count = 0
        /// The first files.
        private(set) var examples: [Example] = []

        struct Example: Codable, Sendable {
            var path: String
            var error: LineError
        }

        mutating func add(_ path: String, _ error: LineError) {
            count += 1
            if examples.count < Summary.listed { examples.append(Example(path: path, error: error)) }
        }

        mutating func add(_ other: Unwritten) {
            count += other.count
            examples += other.examples.prefix(Summary.listed - examples.count)
        }
    }

    init() {}

    /// - Parameter text: JSON, or an empty string if nothing was counted.
    init(_ text: String) throws {
        if text.isEmpty {
            self.init()
        } else {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        }
    }

    var text: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }
}
