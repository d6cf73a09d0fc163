import API
import ArgumentParser
import SatchelCore
import CSandbox
import CodecPool
import Foundation
import Glibc
import Ingest
import Stores

/// The command line: one file per command under `Commands/`.
@main
struct Satchel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "satchel",
        abstract: "Prepare media attachments for notifications and messages.",
        discussion: """
            Satchel makes small, safe and private renditions of photos, sounds and videos, and keeps them in a store. \
            Sources are never changed. Each is decoded in a sandboxed process of its own, so a damaged or hostile file \
            does not affect the others.

            Use --store to name the store: a directory, a PostgreSQL database, or 'memory:' to keep everything in RAM \
            until exit. The default is the environment variable SATCHEL_STORE, then the setting 'store', then the \
            directory satchel in the XDG data directory.

            \(ExitStatus.list)

            Examples:

              satchel batch ~/Pictures
              satchel list
              satchel get ID -o photo.jpg
              satchel lease ID
              satchel serve
            """,
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(name: "Preparation", subcommands: [Add.self, Batch.self, Watch.self, Inspect.self]),
            CommandGroup(name: "Attachment", subcommands: [List.self, Show.self, Get.self, Remove.self]),
            CommandGroup(name: "Job", subcommands: [Jobs.self, Failures.self, Cancel.self, Retry.self]),
            CommandGroup(name: "Access", subcommands: [LeaseCommand.self, GrantCommand.self, Revoke.self]),
            CommandGroup(
                name: "Notification",
                subcommands: [NotificationCommand.self, CategoryCommand.self, Preview.self, TriggerCommand.self]),
            CommandGroup(
                name: "Service",
                subcommands: [
                    Serve.self, KeyCommand.self, AuditCommand.self, TenantCommand.self, ConsoleCommand.self,
                    ConfigCommand.self,
                    Health.self,
                    UploadCommand.self,
                ]),
            CommandGroup(name: "Maintenance", subcommands: [ProfileCommand.self, StoreCommand.self, Doctor.self]),
        ]
    )

    static func main() async {
        // Memory may hold decrypted media. No core dump is written, and other processes of this user cannot read it.
        _ = sandbox_not_dumpable()
        // Swift's runtime waits without end for a thread that it can't start.
        guard sandbox_startable_threads(12) == 12 else {
            Console.printError(
                "satchel: too few threads can be started. Raise the limit of processes (TasksMax=, pids.max, ulimit -u), or wait until others have ended."
            )
            Glibc.exit(ExitStatus.unavailable.rawValue)
        }
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

    /// Rejects an unknown command and suggests the nearest one.
    private static func refuseUnknownCommand(in words: [String]) throws {
        var command: any ParsableCommand.Type = Satchel.self
        var path = "satchel"
        for word in words {
            let known = command.configuration.subcommands
            // Shell completion passes words of its own that begin like flags.
            if known.isEmpty || word.hasPrefix("-") || word == "help" { return }
            guard let next = known.first(where: { $0._commandName == word }) else {
                // The word may be an argument of the default subcommand.
                let names = known.map { $0._commandName }
                if command.configuration.defaultSubcommand != nil, NearestName.hint(for: word, in: names).isEmpty {
                    return
                }
                throw CommandFailure(
                    "there is no command '\(path) \(Data(word.utf8).displayPath)'"
                        + "\(NearestName.hint(for: word, in: names)). '\(path) --help' lists all.",
                    status: .usage)
            }
            command = next
            path += " \(word)"
        }
    }

    /// Prints an error.
    ///
    /// - Returns: The exit status.
    private static func status(of error: any Error) -> Int32 {
        if error is CancellationError {
            Console.printError("Interrupted. Run the same command again to continue.")
            return ExitStatus.interrupted.rawValue
        }
        let failure: CommandFailure? =
            switch error {
            case let failure as CommandFailure: failure
            case let error as AttachmentError: CommandFailure(error)
            case let error as StoreError: CommandFailure(error)
            case let error as CodecPoolError: CommandFailure(error)
            default: nil
            }
        if let failure {
            Console.printError("satchel: \(failure.sentence)")
            return failure.status.rawValue
        }
        let code = exitCode(for: error)
        let message = fullMessage(for: error)
        if code == .success {
            // ArgumentParser wraps everything but the usage.
            let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
                guard line.hasPrefix("USAGE: "), let width = Terminal.output.width else { return String(line) }
                return String(line).wrapped(to: width)
            }
            print(lines.joined(separator: "\n"))
            return 0
        }
        if !message.isEmpty { Console.printError(message) }
        // ArgumentParser uses status 64 for wrong usage.
        return code == .validationFailure ? ExitStatus.usage.rawValue : code.rawValue
    }
}

enum Version {
    static let current = "0.1.0"
}

/// An error that ends a command: one sentence that says what happened and what to do.
struct CommandFailure: Error {
    var sentence: String
    var status: ExitStatus

    init(_ sentence: String, status: ExitStatus = .failed) {
        self.sentence = sentence
        self.status = status
    }

    /// Lists each problem of a file on a line of its own.
    init(_ problems: FileProblems, in path: String) {
        let lines = problems.lines.map { "  \($0.showingInvisible())" }
        self.init(
            "\(path) has \(Quantity.count(lines.count, "problem")):\n\(lines.joined(separator: "\n"))", status: .usage)
    }
}
