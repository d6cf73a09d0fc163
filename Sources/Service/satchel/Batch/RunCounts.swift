import Foundation

/// What the machines of a shared run tell each other beside its records.
struct RunCounts: Codable {
    /// Of what got no job of the run: what is unchanged, and what was refused.
    var listed = Summary()
    var unwritten = Unwritten()

    /// What is in the store and could not be put where it was wanted.
    struct Unwritten: Codable, Sendable {
        private(set) var count = 0
        /// The first of them.
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

    /// - Parameter text: Empty where nothing was counted.
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
