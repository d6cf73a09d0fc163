import Attachments
import Foundation
import Yams

/// A YAML file of profiles, which add to the built-in ones and replace them by name:
///
///     profiles:
///       banner:
///         based_on: notification
///         image:
///           longest_side: 800
///           aim: 200000
///         video: null
///
/// A profile starts from the one that `based_on` names, else from nothing; a policy that is `null` is taken out.
struct ProfileFile {
    var profiles: [Profile]

    /// Those that take the place of built-in ones.
    var replacements: [Profile] { profiles.filter { own in Profile.builtIn.contains { $0.name == own.name } } }

    /// Reads a file.
    ///
    /// - Throws: ``ProfileFileError`` with every problem of the file.
    init(path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ProfileFileError(path: path, problems: ["cannot be read as UTF-8 text; check the path and its mode"])
        }
        try self.init(yaml: text, path: path)
    }

    init(yaml: String, path: String) throws {
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch {
            let fault = YAMLFault(error)
            throw ProfileFileError(
                path: path, problems: [(fault.line.map { "line \($0): " } ?? "") + "this is no YAML: \(fault.reason)"])
        }
        var reader = ProfileReader()
        profiles = reader.profiles(in: root)
        guard reader.problems.isEmpty else { throw ProfileFileError(path: path, problems: reader.problems) }
    }

    /// A profile in the form that this file takes.
    static func yaml(of profile: Profile) throws -> String {
        guard var node = try Yams.compose(yaml: try JSON.text(profile)) else { return "" }
        node.mapping?["name"] = nil
        let document = Node(
            [("profiles", Node([(Node(profile.name), node.inReadingOrder)]))].map { key, value in
                (Node(key as String), value)
            })
        return try Yams.serialize(node: document, width: -1, allowUnicode: true)
    }
}

/// Everything that is wrong with a profiles file.
struct ProfileFileError: Error, CustomStringConvertible {
    var path: String
    var problems: [String]

    var description: String {
        "\(path) has \(Quantity.count(problems.count, "problem")):\n"
            + problems.map { "  \($0)" }.joined(separator: "\n")
    }
}

extension Node {
    private static let order = [
        "summary", "deadline", "retention", "keeps_original", "speed", "damaged", "thumbnail", "image", "animation",
        "video", "audio",
        "type", "types", "side", "longest_side", "fit", "attention", "aim", "cap", "quality", "minimum_quality",
        "background", "maximum_duration", "when_longer", "rate_factor", "bit_rate", "poster", "waveform",
    ]

    /// The same in block style, keys from the general to the particular.
    fileprivate var inReadingOrder: Node {
        switch self {
        case .mapping(let mapping):
            let pairs = mapping.map { (Node($0.key.string ?? ""), $0.value.inReadingOrder) }
            let sorted = pairs.sorted { left, right in
                let ranks = [left.0, right.0].map { Self.order.firstIndex(of: $0.string ?? "") ?? Self.order.count }
                return ranks[0] < ranks[1]
            }
            return Node(sorted, .implicit, .block)
        case .sequence(let sequence): return Node(sequence.map(\.inReadingOrder), .implicit, .flow)
        case .scalar(let scalar):
            // Composed from JSON every string is quoted; this lets the writer choose.
            return Node(scalar.string, scalar.tag, .any)
        default: return self
        }
    }
}
