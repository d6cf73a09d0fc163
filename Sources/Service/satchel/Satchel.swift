import API
import ArgumentParser
import SatchelCore
import CSandbox
import Foundation
import Glibc
import Ingest
import Stores

/// The command line: one file per command under `Commands/`.
@main
struct Satchel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "satchel",
        abstract: "Prepares media attachments: small, safe, private renditions in a store that it manages.",
        discussion: """
            Try it on a directory of photos, sounds and videos:

              satchel batch ~/Pictures     prepare all; again, and nothing is done twice
              satchel list                 what is in the store
              satchel get ID -o photo.jpg  the bytes of one attachment
              satchel lease ID             access that ends by itself, or when you say
              satchel serve                all of it over HTTP

            A source is never changed. It is decoded in a confined process of its own, so a damaged or hostile file \
            costs one line in the summary and nothing else. The store is the directory of --store, else of the \
            environment variable SATCHEL_STORE, else satchel under the XDG data directory.

            Exit status: 0 all delivered; 1 some were not; 2 wrong usage; 130 interrupted: the same command carries on.
            """,
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(name: "Preparing attachments", subcommands: [Add.self, Batch.self, Watch.self, Inspect.self]),
            CommandGroup(name: "Looking and reading", subcommands: [List.self, Show.self, Get.self, Remove.self]),
            CommandGroup(name: "Jobs", subcommands: [Jobs.self, Failures.self, Cancel.self, Retry.self]),
            CommandGroup(name: "Access", subcommands: [LeaseCommand.self, GrantCommand.self, Revoke.self]),
            CommandGroup(
                name: "Notifications",
                subcommands: [NotificationCommand.self, CategoryCommand.self, Preview.self, TriggerCommand.self]),
            CommandGroup(
                name: "The service",
                subcommands: [
                    Serve.self, KeyCommand.self, AuditCommand.self, TenantCommand.self, ConsoleCommand.self,
                    ConfigCommand.self,
                    Health.self,
                    UploadCommand.self,
                ]),
            CommandGroup(name: "Operation", subcommands: [ProfileCommand.self, StoreCommand.self, Doctor.self]),
        ]
    )

    static func main() async {
        // What is decrypted lies in this process's memory: it leaves no core, and nobody of its user looks into it.
        _ = sandbox_not_dumpable()
        do {
            try await AuditActor.$current.withValue(AuditActor(.command)) {
                try await Interruption.cancelling {
                    try refuseUnknownCommand(in: Array(CommandLine.arguments.dropFirst()))
                    var command = try await asyncParseAsRoot()
                    if var command = command as? any AsyncParsableCommand {
                        try await command.run()
                    } else {
                        try command.run()
                    }
                }
            }
        } catch {
            Glibc.exit(status(of: error))
        }
    }

    /// Names the command that was probably meant.
    private static func refuseUnknownCommand(in words: [String]) throws {
        var command: any ParsableCommand.Type = Satchel.self
        var path = "satchel"
        for word in words {
            let known = command.configuration.subcommands
            // Completion has words of its own, which begin like flags, too.
            if known.isEmpty || word.hasPrefix("-") || word == "help" { return }
            guard let next = known.first(where: { $0._commandName == word }) else {
                // Its words may be arguments of what it does by default.
                let names = known.map { $0._commandName }
                if command.configuration.defaultSubcommand != nil, NearestName.hint(for: word, in: names).isEmpty {
                    return
                }
                throw CommandFailure(
                    "there is no command '\(path) \(Data(word.utf8).displayPath)'"
                        + "\(NearestName.hint(for: word, in: names)). '\(path) --help' lists all.",
                    status: 2)
            }
            command = next
            path += " \(word)"
        }
    }

    /// Prints what is to be said about an error and answers the exit status.
    private static func status(of error: any Error) -> Int32 {
        if error is CancellationError {
            Console.printError("Interrupted. The same command carries on where this one stopped.")
            return 130
        }
        if let failure = error as? CommandFailure {
            Console.printError("satchel: \(failure.sentence)")
            return failure.status
        }
        if let error = error as? AttachmentError {
            Console.printError("satchel: \(error.message)")
            return 1
        }
        if let error = error as? StoreError {
            Console.printError("satchel: \(error.description)")
            return 2
        }
        let code = exitCode(for: error)
        let message = fullMessage(for: error)
        if code == .success {
            print(message)
            return 0
        }
        if !message.isEmpty { Console.printError(message) }
        // The parser's own status for wrong usage is 64.
        return code == .validationFailure ? 2 : code.rawValue
    }
}

enum Version {
    static let current = "0.1.0"
}

/// An error that a command ends with: one clear sentence that says what to do.
struct CommandFailure: Error {
    var sentence: String
    var status: Int32 = 1

    init(_ sentence: String, status: Int32 = 1) {
        self.sentence = sentence
        self.status = status
    }

    /// A line for each problem of a file.
    init(_ problems: FileProblems, in path: String) {
        let lines = problems.lines.map { "  \($0.showingInvisible())" }
        self.init(
            "\(path) has \(Quantity.count(lines.count, "problem")):\n\(lines.joined(separator: "\n"))", status: 2)
    }
}
