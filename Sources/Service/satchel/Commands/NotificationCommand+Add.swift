import API
import ArgumentParser
import SatchelCore
import Foundation
import Stores

extension NotificationCommand {
    struct AddNotification: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a notification, or put it in the place of the one with its id.",
            discussion: """
                The file is what PUT /v1/notifications/ID takes. A file of --attach is the source of the attachment with \
                its identifier, which the JSON lists with a 'part', or not at all. For example:

                  satchel notification add push.json --at 2026-12-24T18:00:00+01:00
                  satchel notification add push.json --id order-88213 --attach photo=x.jpg --in 30m
                  echo '{"payload": {"aps": {"alert": "Hello"}}}' | satchel notification add -

                A service that runs on the store prepares and fires it.
                """)

        @Argument(
            help: ArgumentHelp("The notification as JSON; - is standard input.", valueName: "file"),
            completion: .json)
        var path: String

        @Option(help: ArgumentHelp("The notification's id. Default: one that is generated.", valueName: "id"))
        var id: String?

        @OptionGroup var attached: AttachOptions

        @Option(
            help: ArgumentHelp("Fire it at this time, as RFC 3339 writes one, with its offset.", valueName: "time"))
        var at: WrittenTime?

        @Option(
            name: .customLong("in"),
            help: ArgumentHelp("Fire it after this time, such as 90, 30m, 24h or 7d.", valueName: "time"))
        var delay: TimeSpan?

        @OptionGroup(title: "Where") var store: StoreOptions
        @OptionGroup(title: "Where") var tenant: TenantOptions

        func validate() throws {
            if let id, !id.isClientID { throw ValidationError("--id has \(String.clientIDs).") }
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
            // In memory it would be gone with this process.
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
                Console.printError("\(id.rawValue): \(record.state.rawValue), and the same; nothing was changed.")
            }
            print(try JSON.text(NotificationLine(answer.record)))
        }

        /// As much of it as may be taken, and a byte more.
        private var description: [UInt8] {
            get throws {
                do {
                    let file =
                        try path == "-" ? .standardInput : FileHandle(forReadingFrom: URL(filePath: path))
                    let limit = StoreOptions.configured.settings.intake.jsonBytes
                    return Array(try file.read(upToCount: limit + 1) ?? Data())
                } catch {
                    throw CommandFailure("'\(path)' can't be read; check the path and its mode.", status: 2)
                }
            }
        }
    }
}
