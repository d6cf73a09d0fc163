import ArgumentParser
import Foundation
import Payloads
import SatchelCore
import TestSupport
import Testing

@testable import API
@testable import satchel

/// A table of a page that comes from a table of the code.
struct ReferenceTable: Sendable, CustomTestStringConvertible {
    var name: String
    var page: String
    /// The lines between the marks.
    var lines: @Sendable () throws -> [String]

    var testDescription: String { name }

    static let all: [ReferenceTable] = [
        ReferenceTable(name: "settings", page: "docs/operate/configuration.md") {
            table(
                ["Setting", "Type", "Default", "Meaning"],
                Setting.all.map { [code($0.key), escaped($0.type), standard(of: $0), escaped($0.summary)] })
        },
        ReferenceTable(name: "metrics", page: "docs/operate/monitoring.md") {
            table(
                ["Metric", "Kind", "Labels", "Meaning"],
                MetricDescription.all.map { metric in
                    let labels = metric.labels.map(code).joined(separator: ", ")
                    return [code(metric.name), metric.kind.name, labels, escaped(metric.help)]
                })
        },
        ReferenceTable(name: "errors", page: "docs/errors.md") {
            let errors = OpenAPIDocument.current.root["x-errors"]?.elements ?? []
            return table(
                ["Code", "Status", "Meaning", "What to do", "Retried", "`UNError`"],
                errors.map { error in
                    let statuses = (error["statuses"]?.elements ?? []).map { $0.laidOut() }.joined(separator: ", ")
                    let texts = ["meaning", "action", "retried"].map { escaped(error[$0]?.text ?? "") }
                    let number = error["un_error"]?.laidOut() ?? "null"
                    return [code(error["code"]?.text ?? ""), statuses] + texts + [number == "null" ? "" : number]
                })
        },
        ReferenceTable(name: "findings", page: "docs/errors.md") {
            table(
                ["Code", "Meaning", "Proof"],
                Finding.Code.allCases.map { [code($0.rawValue), escaped($0.meaning), $0.isProof ? "yes" : ""] })
        },
        ReferenceTable(name: "profile-fields", page: "docs/profiles.md") {
            table(["Field", "Value", "Default", "Meaning"], rows(Profile.fields.map(\.description), under: ""))
        },
        ReferenceTable(name: "built-in-profiles", page: "docs/profiles.md") {
            table(
                [""] + Profile.builtIn.map { code($0.name) },
                ProfileFact.all.map { fact in [fact.name] + Profile.builtIn.map(fact.value) })
        },
        ReferenceTable(name: "formats", page: "docs/formats.md") {
            table(
                ["Format", "Media type", "Extensions", "Written as"],
                FileFormat.all.map { format in
                    let extensions = [format.fileExtension] + format.otherNames.filter { !$0.contains("/") }.sorted()
                    let outputs = [
                        format.still == nil ? nil : "still", format.animation == nil ? nil : "animation",
                        format.muxer == nil ? nil : "clip",
                    ]
                    return [
                        format.name, code(format.type.rawValue), extensions.map(code).joined(separator: ", "),
                        outputs.compactMap(\.self).joined(separator: ", "),
                    ]
                })
        },
        ReferenceTable(name: "endpoints", page: "docs/http-api.md") {
            let document = OpenAPIDocument.current
            return (document.root["tags"]?.elements ?? []).flatMap { tag in
                let name = tag["name"]?.text ?? ""
                let operations = document.operations.filter { $0.value["tags"]?.elements.first?.text == name }
                let rows = operations.map { operation in
                    let call = "\(operation.method) \(operation.path)"
                    let access = Endpoint.all.first { $0.name == call }.map(needs) ?? ""
                    return [code(call), escaped(operation.value["summary"]?.text ?? ""), access]
                }
                return rows.isEmpty
                    ? [] : ["### \(name)", ""] + table(["Call", "What it does", "Role of the key"], rows) + [""]
            }.dropLast()
        },
        ReferenceTable(name: "commands", page: "docs/command-line.md") {
            let result = try Program(Repository.product("satchel")).run(["--experimental-dump-help"])
            let help = try JSONDecoder().decode(CommandHelp.self, from: result.output)
            return table(["Command", "What it does"], help.command.rows(under: []))
        },
        ReferenceTable(name: "exit-statuses", page: "docs/command-line.md") {
            table(["Status", "Meaning"], ExitStatus.allCases.map { ["\($0.rawValue)", escaped($0.meaning)] })
        },
        ReferenceTable(name: "packages", page: "docs/operate/install.md") {
            try table(["Group", "Debian", "Packages"], packages())
        },
    ]
}

// MARK: Markdown

private func table(_ header: [String], _ rows: [[String]]) -> [String] {
    ([header, header.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
}

private func code(_ text: String) -> String { "`\(text.replacing("|", with: "\\|"))`" }

/// A text in a cell, with everything outside of code that Markdown would take for markup escaped.
private func escaped(_ text: String) -> String {
    var isCode = false
    return text.replacing("\n", with: " ").reduce(into: "") { cell, character in
        if character == "`" { isCode.toggle() }
        let needsEscape = character == "|" || !isCode && "<*".contains(character)
        cell += (needsEscape ? "\\" : "") + String(character)
    }
}

// MARK: Values

/// A number with its unit: `20 GB`, `64 MiB`, `15 minutes`.
private func quantity(_ number: Int, _ units: [(size: Int, name: String)]) -> String {
    let unit = units.first { number >= $0.size && number % $0.size == 0 } ?? (1, "")
    return "\((number / unit.size).formatted(.number.locale(Locale(identifier: "en_US")))) \(unit.name)"
        .trimmingCharacters(in: .whitespaces)
}

private func bytes(_ number: Int) -> String {
    let units = [
        (1 << 30, "GiB"), (1_000_000_000, "GB"), (1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1000, "kB"),
        (1, "bytes"),
    ]
    return quantity(number, units)
}

private func seconds(_ number: Double) -> String {
    guard let whole = Int(exactly: number) else { return "\(number) s" }
    return quantity(whole, [(86_400, whole == 86_400 ? "day" : "days"), (3600, "h"), (60, "min"), (1, "s")])
}

private func standard(of setting: Setting) -> String {
    let homes = [
        StoreOptions.defaultDirectory: "~/.local/share/satchel", StoreOptions.defaultSpool: "~/.cache/satchel",
        StoreOptions.defaultKeys: "~/.config/satchel/access.keys",
    ]
    switch setting.defaultText == nil ? setting.shown(ServiceConfiguration()) : .nothing {
    case .integer(let number) where setting.type == "bytes": return bytes(Int(number))
    case .integer(let number): return quantity(Int(number), [])
    case .number(let number) where setting.type == "seconds": return seconds(number)
    case .nothing: return escaped(setting.defaultValue)
    case .list([]): return "none"
    default: return code(homes[setting.defaultValue] ?? setting.defaultValue)
    }
}

/// The fields of a profile or of a policy, those of its policies behind each.
private func rows(_ fields: [FieldDescription], under prefix: String) -> [[String]] {
    fields.flatMap { field in
        let name = prefix + field.name
        let row = [code(name), escaped(field.expected), standard(of: field), escaped(field.summary)]
        guard case .part(_, let inner, _) = field.type else { return [row] }
        return [row] + rows(inner, under: name + ".")
    }
}

private func standard(of field: FieldDescription) -> String {
    switch (field.type, field.standard) {
    case (.bytes, .integer(let number)): bytes(Int(number))
    case (.seconds, .number(let number)): seconds(number)
    case (.part, .object): "its fields' defaults"
    case (_, .nothing): "null"
    case (_, .text("")): ""
    case (_, .list(let list)): list.map(code).joined(separator: ", ")
    default: code(field.standard.text)
    }
}

/// A line of the table of built-in profiles.
private struct ProfileFact: Sendable {
    var name: String
    var value: @Sendable (Profile) -> String

    static let all = [
        ProfileFact(name: "For") { escaped($0.summary) },
        ProfileFact(name: "Deadline") { $0.deadline.map(seconds) ?? "none" },
        ProfileFact(name: "Retention") { $0.retention.map(seconds) ?? "until deleted" },
        ProfileFact(name: "Thumbnail") { $0.thumbnail.map { "\($0.side) pixels" } ?? "none" },
        ProfileFact(name: "Images") { $0.image.map { limits($0.types, $0.longestSide, $0.cap) } ?? "refused" },
        ProfileFact(name: "Animations") { $0.animation.map { limits([$0.type], $0.longestSide, $0.cap) } ?? "refused" },
        ProfileFact(name: "Videos") { profile in
            profile.video.map {
                limits([$0.type], $0.longestSide, $0.cap) + duration($0.maximumDuration, $0.whenLonger)
            } ?? "refused"
        },
        ProfileFact(name: "Sounds") { profile in
            profile.audio.map { limits($0.types, nil, $0.cap) + duration($0.maximumDuration, $0.whenLonger) }
                ?? "refused"
        },
        ProfileFact(name: "Keeps the original") { $0.keepsOriginal ? "yes" : "no" },
    ]

    private static func limits(_ types: [MediaType], _ side: Int?, _ cap: Int64) -> String {
        let names = types.map(\.format.name).joined(separator: ", ")
        return names + (side.map { "; at most \($0) pixels" } ?? "") + "; at most \(bytes(Int(cap)))"
    }

    private static func duration(_ maximum: Double?, _ whenLonger: WhenLonger) -> String {
        maximum.map { "; \(whenLonger == .trim ? "trimmed to" : "refused over") \(seconds($0))" } ?? ""
    }
}

private func needs(_ endpoint: Endpoint) -> String {
    func roles(_ roles: [AccessRole]) -> String { roles.map { code($0.rawValue) }.joined(separator: ", ") }
    return switch endpoint.access {
    case .anyone: "no key"
    case .key(let needed): roles(needed)
    case .keyOrGrant(let needed): roles(needed) + ", or a grant"
    case .grant: "a grant"
    }
}

/// The help as ArgumentParser dumps it.
private struct CommandHelp: Decodable {
    struct Command: Decodable {
        var commandName: String
        var abstract: String?
        var subcommands: [Command]?

        func rows(under parents: [String]) -> [[String]] {
            let names = parents + [commandName]
            let inner = (subcommands ?? []).filter { $0.commandName != "help" }
            guard inner.isEmpty else { return inner.flatMap { $0.rows(under: names) } }
            return [[code(names.joined(separator: " ")), escaped(abstract ?? "")]]
        }
    }

    var command: Command
}

/// The packages of the groups that users install, for both releases of Debian.
private func packages() throws -> [[String]] {
    let script = try String(contentsOf: Repository.root.appending(path: "install-dependencies.sh"), encoding: .utf8)
    let directory = try TemporaryDirectory()
    let releases = try [("12", "bookworm"), ("13", "trixie")].map { number, name in
        let file = directory.url.appending(path: "os-release-\(number)")
        try "VERSION_CODENAME=\(name)\n".write(to: file, atomically: true, encoding: .utf8)
        return (number, script.replacing("/etc/os-release", with: file.path()))
    }
    return try ["build", "run"].flatMap { group in
        let lists = try releases.map { number, script in
            let result = try Program.tool("sh").run(["-s", "--", "--list", group], input: Data(script.utf8))
            #expect(result.status == 0, "\(result.errorText)")
            return (number, result.outputText.split(whereSeparator: \.isWhitespace).map(String.init))
        }
        let common = Set(lists[0].1).intersection(lists[1].1)
        func cell(_ names: [String]) -> String { names.map(code).joined(separator: " ") }
        return [[code(group), "12 and 13", cell(lists[0].1.filter(common.contains))]]
            + lists.map { [code(group), $0, cell($1.filter { !common.contains($0) })] }
    }
}
