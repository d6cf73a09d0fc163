import API
import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Jobs
import Payloads
import Stores

extension NotificationCommand {
    struct FireNotification: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fire",
            abstract: "Fire a notification now, in addition to its schedule, and show the firing as JSON.",
            discussion: """
                The JSON includes the payload. The links in it start with the setting public_url. If a service is still preparing \
                the media, the command waits for them, up to the notification's deadline. A running service hands the \
                payload over to the back end.
                """)

        @Argument(help: ArgumentHelp("ID of the notification.", valueName: "id"))
        var id: String

        @Flag(help: "Do not hand the payload over to the back end.")
        var noHandover = false

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        func run() async throws {
            let store = try await openStore(store)
            let name = NotificationID(rawValue: id)
            let shown = Data(id.utf8).displayPath
            guard try await store.records.notification(name, of: tenant.id) != nil else {
                throw CommandFailure.unknownNotification(id)
            }
            let fired: (record: FiringRecord, document: JSONValue)?
            do {
                fired = try await fire(name, in: store)
            } catch is CancellationError {
                Console.printError(
                    "Interrupted. If '\(shown)' was fired already, a running service completes the firing. Running the command again fires it again."
                )
                throw ExitCode(ExitStatus.interrupted.rawValue)
            }
            guard let fired else {
                throw CommandFailure("'\(shown)' was cancelled. Add it again, then fire it.", status: .notFound)
            }
            print(fired.document.laidOut(width: 80).escapingInvisible())
            if fired.record.isWaiting {
                Console.printError("\(shown): the media are not ready. A running service completes the firing.")
                throw ExitCode(ExitStatus.interrupted.rawValue)
            }
            if let error = fired.record.error {
                Console.printError("\(shown): \(error.code.rawValue). \(error.message)")
                throw ExitCode(ExitStatus.failed.rawValue)
            }
        }

        /// - Returns: The firing and its JSON as in the API, with the payload; `nil` if the notification was cancelled.
        private func fire(
            _ name: NotificationID, in store: Store
        ) async throws -> (record: FiringRecord, document: JSONValue)? {
            try await store.withService { service, configuration in
                if StoreOptions.configured.publicURL == nil {
                    Console.printError(
                        "Warning: public_url is not configured, so links start with \(configuration.settings.publicURL)."
                    )
                }
                let firing = try await service.notifications.fire(
                    name, of: tenant.id, idempotencyKey: nil, hasHandover: !noHandover, by: service)
                guard let firing else { return nil }
                return (firing, try await service.document(firing))
            }
        }
    }
}
