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
            abstract: "Fire a notification now, beside its schedule, and show the firing as JSON, its payload with it.",
            discussion: """
                While a service prepares its media, this waits for them, up to the notification's deadline. A running \
                service hands it over. Its links begin with public_url of the configuration.
                """)

        @Argument(help: ArgumentHelp("The notification's id.", valueName: "id"))
        var id: String

        @Flag(help: "Hand it over to nobody.")
        var noHandover = false

        @OptionGroup(title: "Where") var store: StoreOptions
        @OptionGroup(title: "Where") var tenant: TenantOptions

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
                    "Interrupted. If \(shown) was fired, a running service completes that; the same command fires it again."
                )
                throw ExitCode(130)
            }
            guard let fired else {
                throw CommandFailure("'\(shown)' was taken back. Add it again, then fire it.")
            }
            print(fired.document.laidOut(width: 80).escapingInvisible())
            if fired.record.isWaiting {
                Console.printError("\(shown): its media are not ready. A running service completes the firing.")
                throw ExitCode(130)
            }
            if let error = fired.record.error {
                Console.printError("\(shown): \(error.code.rawValue). \(error.message)")
                throw ExitCode(1)
            }
        }

        /// - Returns: The firing, and as the API shows it, with its payload; nil where the notification was taken back.
        private func fire(
            _ name: NotificationID, in store: Store
        ) async throws -> (record: FiringRecord, document: JSONValue)? {
            try await store.withService { service, configuration in
                if StoreOptions.configured.publicURL == nil {
                    Console.printError(
                        "Warning: public_url is not configured, so links begin with \(configuration.settings.publicURL)."
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
