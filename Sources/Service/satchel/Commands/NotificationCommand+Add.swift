import API
import ArgumentParser
import SatchelCore
import Foundation
import Stores

extension NotificationCommand {
    struct AddNotification: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a notification, or replace the one with the same id.",
            discussion: """
                The file has the same JSON as PUT /v1/notifications/ID. Each --attach adds a file as the source of the \
                attachment with the same identifier. If the JSON lists this attachment, it must have a 'part'.

                A service that uses the store prepares and fires the notification.

                Examples:

                  satchel notification add push.json --at 2026-12-24T18:00:00+01:00
                  satchel notification add push.json --attach photo=x.jpg --in 30m
                  echo '{"payload": {"aps": {"alert": "Hi"}}}' | satchel notification add -
                """)

        @Argument(
            help: ArgumentHelp("The notification as JSON; '-' reads standard input.", valueName: "file"),
            completion: .json)
        var path: String

        @Option(help: ArgumentHelp("ID of the notification. Default: a generated one.", valueName: "id"))
        var id: String?

        @OptionGroup var attached: AttachOptions

        @Option(
            help: ArgumentHelp("Fire at this time, such as 2026-12-24T18:00:00+01:00.", valueName: "time"))
        var at: WrittenTime?

        @Option(
            name: .customLong("in"),
            help: ArgumentHelp("Fire after this delay, such as 90s, 30m, 24h or 7d.", valueName: "time"))
        var delay: TimeSpan?

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        func validate() throws {
            if let id, !id.isClientID { throw ValidationError("--id must have \(String.clientIDs).") }
            if at != nil, delay != nil { throw ValidationError("Give --at or --in, not both.") }
            try delay?.validate("--in", atMost: .seconds(Trigger.intervals.upperBound))
        }

        private var trigger: Trigger? {
            at.map { .date(at: $0, timeZone: nil) }
                ?? delay.map { .interval(seconds: $0.duration.inSeconds, repeats: false) }
        }

        func run() async throws {
            let files = NotificationFiles(
                description: try description, attachments: try attached.files.map { try $0.submission },
                trigger: trigger)
            let id = id.map(NotificationID.init) ?? .generate()
            // A store in memory would be discarded with this process.
            let store = try await openStore(store, create: store.location != .memory)
            let answer: NotificationAnswer
            do {
                answer = try await store.withService { service, _ in
                    try await service.put(files, as: id, of: tenant.id)
                }
            } catch let problems as FileProblems {
                throw CommandFailure(problems, in: path == "-" ? "standard input" : path)
            }
            if case .unchanged(let record) = answer {
                Console.printError("\(id.rawValue): \(record.state.rawValue), and identical; nothing changed.")
            }
            print(try JSON.text(answer.record.line))
        }

        /// Reads one byte more than the limit, so that a longer file is rejected.
        private var description: [UInt8] {
            get throws {
                try readFile(
                    path, upTo: StoreOptions.configured.settings.intake.jsonBytes + 1, takesInput: true)
            }
        }
    }
}
