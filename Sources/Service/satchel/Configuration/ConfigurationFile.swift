import SatchelCore
import Foundation
import Yams

/// A YAML file of settings, flattened to the values and the line of each key.
struct ConfigurationFile: Sendable {
    struct Entry: Sendable {
        var line: Int
        var texts: [String]
    }

    var path: String
    var entries: [String: Entry] = [:]
    var problems: [ConfigurationProblem] = []

    /// The default path.
    static let standardPath = "/etc/satchel/satchel.yaml"

    /// The file to read: the named one, that of `SATCHEL_CONFIG`, or the standard one if it exists.
    static func path(named name: String?, _ environment: [String: String]) -> String? {
        if let name { return name }
        if let name = environment["SATCHEL_CONFIG"], !name.isEmpty { return name }
        return FileManager.default.fileExists(atPath: standardPath) ? standardPath : nil
    }

    init(path: String) {
        self.path = path
        do {
            let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            guard let root = try Yams.compose(yaml: text) else { return }
            guard root.mapping != nil else {
                addError(
                    root.mark?.line ?? 1, "", root.string,
                    "the file must be a mapping from keys to values; see 'satchel config keys'")
                return
            }
            read(root, under: "")
        } catch let error as YamlError {
            let fault = YAMLFault(error)
            problems.append(
                ConfigurationProblem(
                    key: nil, origin: path + (fault.line.map { " line \($0)" } ?? ""), value: nil,
                    remedy: "invalid YAML: \(fault.reason)"))
        } catch {
            problems.append(
                ConfigurationProblem(
                    key: nil, origin: path, value: nil,
                    remedy: "the file can't be read; check that it exists and that you have permission"))
        }
    }

    private mutating func read(_ node: Node, under prefix: String) {
        guard let mapping = node.mapping else { return }
        for (name, value) in mapping {
            let key = prefix + (name.string ?? "")
            if let setting = Setting.byKey[key] {
                enter(value, of: setting, line: name.mark?.line ?? 1)
            } else if value.mapping != nil, Setting.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
                read(value, under: key + ".")
            } else {
                addError(
                    name.mark?.line ?? 1, key, nil,
                    "there is no such setting" + NearestName.hint(for: key, in: Setting.all.map(\.key)))
            }
        }
    }

    /// - Parameter line: The line of the key, because a list starts on the next line.
    private mutating func enter(_ value: Node, of setting: Setting, line: Int) {
        if let scalar = value.scalar {
            // An empty value means that the setting is not given.
            if scalar.string.isEmpty || value.null != nil { return }
            entries[setting.key] = Entry(line: line, texts: [scalar.string])
        } else if let sequence = value.sequence, setting.isList, sequence.allSatisfy({ $0.scalar != nil }) {
            entries[setting.key] = Entry(line: line, texts: sequence.compactMap(\.scalar?.string))
        } else if let texts = value.mapping?.entries(levels: setting.levels) {
            entries[setting.key] = Entry(line: line, texts: texts)
        } else {
            addError(
                line, setting.key, nil,
                "must be \(setting.isList ? "a \(setting.type)" : "one value (\(setting.type))")")
        }
    }

    private mutating func addError(_ line: Int, _ key: String, _ value: String?, _ remedy: String) {
        problems.append(
            ConfigurationProblem(
                key: key.isEmpty ? nil : key, origin: "\(path) line \(line)", value: value,
                remedy: remedy))
    }
}

extension Node.Mapping {
    /// The entries as `name=value`, or `name.name=value` for two levels; `nil` if the depth does not match.
    fileprivate func entries(levels: Int) -> [String]? {
        guard levels > 0 else { return nil }
        var entries: [String] = []
        for (key, value) in self {
            let name = key.string ?? ""
            if levels > 1 {
                guard let inner = value.mapping?.entries(levels: levels - 1) else { return nil }
                entries += inner.map { "\(name).\($0)" }
            } else {
                guard let text = value.scalar?.string else { return nil }
                entries.append("\(name)=\(text)")
            }
        }
        return entries
    }
}

/// A problem with one setting: where the value came from and what it must be.
struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    var key: String?
    var origin: String
    var value: String?
    var remedy: String

    var description: String {
        var text = key.map { "\($0) " } ?? ""
        if let value { text += "'\(value)' " }
        return text + "(\(origin)): \(remedy)."
    }
}

/// A syntax error in YAML.
struct YAMLFault {
    /// `nil` if the error is not on one line.
    var line: Int?
    var reason: String

    init(_ error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            line = mark.line
            reason = problem
        case .duplicatedKeysInMapping(let keys, let context):
            line = context.mark.line
            reason = keys.sorted().map { "'\($0)' appears twice" }.joined(separator: ", ")
        case .reader(let problem, _, _, _): reason = problem
        default: reason = "the text is not UTF-8"
        }
    }
}
