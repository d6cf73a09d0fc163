import ArgumentParser
import SatchelCore
import Foundation
import Yams

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show and check the settings of the service.",
        discussion: """
            Each setting can be given as a flag of 'satchel serve', as an environment variable SATCHEL_…, or in a YAML \
            file. Flags take precedence over the environment, and the environment over the file.

            Examples:

              satchel config
              satchel config show --format json
              satchel config keys
              satchel config example > satchel.yaml
              satchel config check satchel.yaml
            """,
        subcommands: [ShowConfiguration.self, Keys.self, Example.self, Check.self],
        defaultSubcommand: ShowConfiguration.self)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case yaml, json
    }

    struct ShowConfiguration: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the value and the source of each setting, as used by 'satchel serve' with the same flags.")

        @OptionGroup var options: ServeOptions

        @Option(help: "Output format.")
        var format = Format.yaml

        func run() async throws {
            let read = options.read()
            for warning in read.warnings { Console.printError("Warning: \(warning)") }
            try read.requireSound()
            switch format {
            case .json:
                let lines = Setting.all.map { setting -> JSONFields in
                    [
                        "key": setting.key, "value": setting.shown(read.configuration),
                        "origin": read.origins[setting.key] ?? "default",
                    ]
                }
                print(try JSON.text(lines, pretty: true))
            case .yaml:
                print(
                    SettingsYAML.text { setting in
                        let value = setting.shown(read.configuration)
                        let origin = read.origins[setting.key] ?? "default"
                        let note = value == .nothing ? "default: \(setting.defaultValue)" : origin
                        return (value, note, isComment: false)
                    })
            }
        }
    }

    struct Keys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "keys", abstract: "List every setting with its type, default and environment variable.")

        func run() async throws {
            for setting in Setting.all {
                print(
                    """
                    \(setting.key)
                        \(setting.summary)
                        \(setting.type); default: \(setting.defaultValue); \(setting.variable)
                    """)
            }
        }
    }

    struct Example: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "example",
            abstract: "Print a YAML file that has every setting, commented out, with its default.")

        func run() async throws {
            let defaults = ServiceConfiguration()
            print("# Settings of 'satchel serve'. The commented-out values are the defaults.\n")
            print(
                SettingsYAML.text { setting in
                    (setting.shown(defaults), setting.summary, isComment: true)
                })
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a settings file and list all problems.")

        @Argument(help: ArgumentHelp("Settings file (YAML).", valueName: "file"), completion: .yaml)
        var path: String

        func run() async throws {
            let read = ResolvedConfiguration(flags: [], environment: [:], file: path)
            guard read.problems.isEmpty else {
                throw CommandFailure(
                    "\(path) has \(Quantity.count(read.problems.count, "problem")):\n"
                        + read.problems.map { "  \($0)" }.joined(separator: "\n"))
            }
            print("\(path) is valid: \(Quantity.count(read.origins.count, "setting"))")
        }
    }
}

/// Settings as YAML, in their groups.
private enum SettingsYAML {
    static func text(_ line: (Setting) -> (PlainValue, note: String, isComment: Bool)) -> String {
        var text = ""
        var group = ""
        for setting in Setting.all {
            let parts = setting.key.split(separator: ".", maxSplits: 1).map { String($0) }
            let (value, note, isComment) = line(setting)
            let mark = isComment ? "# " : ""
            if parts.count > 1, parts[0] != group { text += "\(mark)\(parts[0]):\n" }
            group = parts.count > 1 ? parts[0] : ""
            let indent = parts.count > 1 ? "  " : ""
            if isComment { text += "\(mark)\(indent)# \(note)\n" }
            text += "\(mark)\(indent)\(parts[parts.count - 1]): \(value.yaml)"
            text += isComment ? "\n" : "  # \(note)\n"
        }
        return String(text.dropLast())
    }
}
