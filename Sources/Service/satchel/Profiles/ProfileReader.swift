import SatchelCore
import Yams

/// Reads profiles from YAML and collects all problems with their line, key and value.
struct ProfileReader {
    private(set) var problems: [String] = []
    /// The line of each key, by its path: `banner.image.aim`.
    private var lines: [String: Int] = [:]
    private var known: [String: Profile] = Dictionary(uniqueKeysWithValues: Profile.builtIn.map { ($0.name, $0) })

    mutating func profiles(in root: Node?) -> [Profile] {
        guard let mapping = root?.mapping,
            let entries = mapping.first(where: { $0.key.string == "profiles" })?.value
        else {
            report(
                ProfileProblem(key: "profiles", value: "", remedy: "must be the top-level key of the file"))
            return []
        }
        for key in mapping.keys where key.string != "profiles" {
            lines[key.string ?? ""] = key.mark?.line
            report(
                ProfileProblem(
                    key: key.string ?? "", value: "", remedy: "is not a known key; the only top-level key is 'profiles'"
                ))
        }
        guard let profiles = entries.mapping else {
            lines["profiles"] = entries.mark?.line
            report(ProfileProblem(key: "profiles", value: "", remedy: "must be a mapping from names to profiles"))
            return []
        }
        return profiles.map { key, node in
            lines[key.string ?? ""] = key.mark?.line
            let profile = profile(named: key.string ?? "", node)
            known[profile.name] = profile
            return profile
        }
    }

    private mutating func profile(named name: String, _ node: Node) -> Profile {
        var profile = Profile(name: name)
        let whole = FieldType.part(Profile.self)
        guard case .object(let members) = value(of: node, whole, at: name) else {
            report(ProfileProblem(key: name, value: node.string ?? "", remedy: "must be a mapping"))
            return profile
        }
        var unread: [ProfileProblem] = []
        if let base = members.first(where: { $0.name == "based_on" })?.value.text {
            if let found = known[base] {
                profile = found
            } else {
                unread.append(
                    ProfileProblem(
                        key: "based_on", value: base,
                        remedy: "must name one of \(known.keys.sorted().joined(separator: ", "))"))
            }
        }
        unread += profile.set(members, beside: ["based_on"])
        profile.name = name
        // Unreadable values keep their defaults, for which no further problems are reported.
        let wrong = profile.problems().filter { problem in
            !unread.contains { $0.key == problem.key } && !(problem.key == "profile" && !unread.isEmpty)
        }
        for problem in unread + wrong { report(problem.below(name)) }
        return profile
    }

    /// Returns the value of a node for a field of this type, or its text if the type does not match.
    private mutating func value(of node: Node, _ type: FieldType?, at path: String) -> PlainValue {
        switch node {
        case .mapping(let mapping):
            let fields = if case .part(_, let fields, _) = type { fields } else { [FieldDescription]() }
            return .object(
                mapping.map { key, node in
                    let name = key.string ?? ""
                    lines["\(path).\(name)"] = key.mark?.line
                    let type = fields.first { $0.name == name }?.type
                    return PlainValue.Member(name, value(of: node, type, at: "\(path).\(name)"))
                })
        case .sequence(let sequence): return .list(sequence.map { $0.string ?? "" })
        default: break
        }
        if node.null != nil { return .nothing }
        let read: PlainValue? =
            switch type {
            case .flag: node.bool.map(PlainValue.flag)
            case .integer, .bytes: node.int.map { .integer(Int64($0)) }
            case .seconds: (node.float ?? node.int.map(Double.init)).map(PlainValue.number)
            default: nil
            }
        return read ?? .text(node.string ?? "")
    }

    /// Reports a problem with the line of its key, or that of the enclosing part if the key is missing.
    private mutating func report(_ problem: ProfileProblem) {
        problems.append((line(of: problem.key).map { "line \($0): " } ?? "") + problem.description)
    }

    private func line(of key: String) -> Int? {
        if let line = lines[key] { return line }
        return key.lastIndex(of: ".").flatMap { line(of: String(key[..<$0])) }
    }
}
