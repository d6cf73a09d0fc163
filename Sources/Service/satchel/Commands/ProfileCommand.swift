import ArgumentParser
import SatchelCore
import Foundation

struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "List, show and check profiles.",
        discussion: """
            A profile says which renditions are made and which types, sizes, durations and byte limits apply to them.

            Examples:

              satchel profile list
              satchel profile show notification > mine.yaml
              satchel profile show notification --explain
              satchel profile check mine.yaml
              satchel batch ~/Pictures --profiles mine.yaml --profile banner
            """,
        subcommands: [ListProfiles.self, ShowProfile.self, CheckProfiles.self])

    struct ListProfiles: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all profiles.")

        @OptionGroup var file: ProfileFileOptions

        func run() async throws {
            let profiles = try file.all()
            for profile in profiles { file.warn(of: profile) }
            print(table(["PROFILE", "PURPOSE"], profiles.map { [$0.name, $0.summary] }))
        }
    }

    struct ShowProfile: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Print a profile as YAML, to be changed and used with --profiles.")

        @Argument(help: ArgumentHelp("Name of the profile.", valueName: "name"), completion: .profiles)
        var name: String

        @Flag(help: "Explain each field: its purpose, its values and its default.")
        var explain = false

        @OptionGroup var file: ProfileFileOptions

        func run() async throws {
            let profile = try file.named(name)
            file.warn(of: profile)
            print(ProfileFile.yaml(of: profile, isExplained: explain), terminator: "")
        }
    }

    struct CheckProfiles: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a profiles file and list all problems.")

        @Argument(help: ArgumentHelp("Profiles file (YAML).", valueName: "file"), completion: .yaml)
        var path: String

        func run() async throws {
            do {
                let file = try ProfileFile(path: path)
                for profile in file.replacements {
                    Console.printError(ProfileFileOptions.warning(of: profile, in: path))
                }
                print("\(path) is valid: \(file.profiles.map(\.name).joined(separator: ", "))")
            } catch let error as ProfileFileError {
                throw CommandFailure(error.description)
            }
        }
    }
}
