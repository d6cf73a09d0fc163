import SatchelCore
import Foundation
import Yams

/// A YAML file of profiles. They add to the built-in ones, or replace those with the same name:
///
///     profiles:
///       banner:
///         based_on: notification
///         image:
///           longest_side: 800
///           aim: 200000
///         video: null
///
/// A profile starts from that of `based_on`, or empty. A policy set to `null` is removed.
struct ProfileFile {
    var profiles: [Profile]

    /// The profiles that replace built-in ones.
    var replacements: [Profile] { profiles.filter { own in Profile.builtIn.contains { $0.name == own.name } } }

    /// Reads a file.
    ///
    /// - Throws: ``ProfileFileError`` with every problem of the file.
    init(path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ProfileFileError(
                path: path,
                problems: ["the file can't be read as UTF-8 text; check that it exists and that you have permission"])
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
                path: path, problems: [(fault.line.map { "line \($0): " } ?? "") + "invalid YAML: \(fault.reason)"])
        }
        var reader = ProfileReader()
        profiles = reader.profiles(in: root)
        guard reader.problems.isEmpty else { throw ProfileFileError(path: path, problems: reader.problems) }
    }

    /// Returns a profile as YAML with all fields. Missing policies are `null`.
    ///
    /// - Parameter isExplained: Whether to add a comment with the purpose, type and default of each field. The fields of a
    ///   missing policy are then comments as well.
    static func yaml(of profile: Profile, isExplained: Bool = false) -> String {
        let fields = Profile.fields.map(\.description)
        return
            (["profiles:", "  \(PlainValue.text(profile.name).yaml):"]
            + lines(fields, profile.values, isExplained: isExplained).map { "    " + $0 })
            .map { $0 + "\n" }.joined()
    }

    private static func lines(_ fields: [FieldDescription], _ values: PlainValue, isExplained: Bool) -> [String] {
        zip(fields, values.members).filter { $0.0.type != .name }.flatMap { field, member -> [String] in
            let lines = lines(field, member.value, isExplained: isExplained)
            guard isExplained else { return lines }
            return ["# \(field.summary)", "# Type: \(field.expected). Default: \(field.standard.yaml)."] + lines
        }
    }

    private static func lines(_ field: FieldDescription, _ value: PlainValue, isExplained: Bool) -> [String] {
        guard case .part(_, let fields, let defaults) = field.type else { return ["\(field.name): \(value.yaml)"] }
        if value != .nothing {
            return ["\(field.name):"] + lines(fields, value, isExplained: isExplained).map { "  " + $0 }
        }
        let rest = lines(fields, defaults, isExplained: isExplained).map { "#   " + $0 }
        return ["\(field.name): null"] + (isExplained ? rest : [])
    }
}

/// All problems of a profiles file.
struct ProfileFileError: Error, CustomStringConvertible {
    var path: String
    var problems: [String]

    var description: String {
        "\(path) has \(Quantity.count(problems.count, "problem")):\n"
            + problems.map { "  \($0)" }.joined(separator: "\n")
    }
}
