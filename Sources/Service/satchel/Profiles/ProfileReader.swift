import SatchelCore
import Yams

/// Reads profiles from YAML and collects every problem, each with its line, key and value.
struct ProfileReader {
    private(set) var problems: [String] = []
    /// On which line each key stands, by its path: `banner.image.aim`.
    private var lines: [String: Int] = [:]
    private var known: [String: Profile] = Dictionary(uniqueKeysWithValues: Profile.builtIn.map { ($0.name, $0) })

    mutating func profiles(in root: Node?) -> [Profile] {
        guard let mapping = root?.mapping,
            let entries = mapping.first(where: { $0.key.string == "profiles" })?.value
        else {
            report(
                ProfileProblem(key: "profiles", value: "", remedy: "is missing: the file must have the key 'profiles'"))
            return []
        }
        for key in mapping.keys where key.string != "profiles" {
            lines[key.string ?? ""] = key.mark?.line
            report(ProfileProblem(key: key.string ?? "", value: "", remedy: "is not known; known are profiles"))
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
        // Values that could not be read keep their defaults; to complain about those as well would mislead.
        let wrong = profile.problems().filter { problem in
            !unread.contains { $0.key == problem.key } && !(problem.key == "profile" && !unread.isEmpty)
        }
        for problem in unread + wrong { report(problem.below(name)) }
        return profile
    }

    /// A node as a field of this type reads it; what isn't of the type is a text, for the complaint.
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

    /// With the line of the key; where the file doesn't have it, of the part that it belongs to.
    private mutating func report(_ problem: ProfileProblem) {
        problems.append((line(of: problem.key).map { "line \($0): " } ?? "") + problem.description)
    }

    private func line(of key: String) -> Int? {
        if let line = lines[key] { return line }
        return key.lastIndex(of: ".").flatMap { line(of: String(key[..<$0])) }
    }
}
