import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "Manage pending and delivered notifications.",
        discussion: """
            A running service prepares the media of notifications and fires them. It notices within a second what these \
            commands change.

            Examples:

              satchel notification add push.json --attach photo=x.jpg --in 30m
              satchel notification list --tenant default
              satchel notification list --delivered --format jsonl
              satchel notification show order-88213
              satchel notification fire order-88213
              satchel notification rm order-88213 --from pending
            """,
        subcommands: [
            AddNotification.self, ListNotifications.self, ShowNotification.self, FireNotification.self,
            RemoveNotification.self,
        ])

    struct ListNotifications: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List pending notifications, soonest first, or delivered ones, latest first.")

        @Flag(help: "List delivered notifications instead of pending ones.")
        var delivered = false

        @Option(help: ArgumentHelp("Only notifications of this category.", valueName: "category"))
        var category: String?

        @Option(help: ArgumentHelp("Maximum number of notifications; 0 for all.", valueName: "count"))
        var limit = 100

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions
        @OptionGroup(title: "Results") var format: FormatOptions

        func validate() throws {
            if limit < 0 { throw ValidationError("--limit must not be negative.") }
        }

        func run() async throws {
            let store = try await openStore(store)
            var writer = ListWriter<NotificationRecord>(
                format.format,
                [
                    ListColumn("NOTIFICATION", "notification_id", 36) { Data($0.id.rawValue.utf8).displayPath },
                    ListColumn("STATE", "state", 9) { $0.state.rawValue },
                    ListColumn("NEXT", "next_at", 24) { $0.next?.at.description ?? "-" },
                    ListColumn("FIRED", "fired", 5, isNumber: true) { "\($0.fired)" },
                    ListColumn("CATEGORY", "category", 0) { record in
                        record.submission.category.map { Data($0.utf8).displayPath } ?? "-"
                    },
                ])
            try await Listing(limit: limit, what: "notifications").run { cursor, count in
                try await store.records.notifications(
                    of: tenant.id, in: delivered ? .delivered : .pending, category: category, after: cursor,
                    limit: count)
            } write: { record in
                try writer.write(record, json: record.line)
            }
        }
    }

    struct ShowNotification: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a notification and its latest firings as JSON.")

        @Argument(help: ArgumentHelp("ID of the notification.", valueName: "id"))
        var id: String

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        func run() async throws {
            let store = try await openStore(store)
            let name = NotificationID(rawValue: id)
            let record = try await store.records.notification(name, of: tenant.id)
            guard let record else { throw CommandFailure.unknownNotification(id) }
            let firings = try await store.records.firings(of: name, tenant: tenant.id, after: nil, limit: 20)
            let shown: JSONFields = ["notification": record.line, "firings": firings.elements.map(\.line)]
            print(try JSON.text(shown, pretty: true))
        }
    }

    struct RemoveNotification: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Remove notifications.",
            discussion: """
                Removing a notification from 'pending' cancels it. Removing it from 'delivered' makes its links stop \
                working. By default, it is removed from both.
                """)

        @Argument(help: ArgumentHelp("IDs of the notifications.", valueName: "id"))
        var ids: [String]

        @Option(help: ArgumentHelp("List to remove them from.", valueName: "list"))
        var from = NotificationRemoval.all

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        func run() async throws {
            let store = try await openStore(store)
            var unknown: [String] = []
            for id in ids {
                let isKnown = try await store.records.remove(NotificationID(rawValue: id), of: tenant.id, from: from)
                if !isKnown { unknown.append(id) }
            }
            if let first = unknown.first { throw CommandFailure.unknownNotification(first) }
        }
    }
}

extension NotificationRecord {
    /// A notification as commands print it.
    var line: JSONFields {
        [
            "id": id.rawValue, "state": state, "generation": generation, "category": submission.category,
            "nextAt": next?.at, "nextLocal": next?.local, "firings": counts, "job": job?.rawValue,
            "metadata": submission.metadata, "createdAt": createdAt, "finishedAt": finishedAt, "error": error,
        ]
    }
}

extension FiringRecord {
    /// A firing as commands print it, without its payload and links.
    fileprivate var line: JSONFields {
        [
            "number": number, "id": id.rawValue, "state": state, "scheduledAt": scheduledAt, "firedAt": firedAt,
            "late": late, "coalesced": coalesced, "failed": failed, "dropped": dropped, "error": error,
        ]
    }
}

extension CommandFailure {
    static func unknownNotification(_ id: String) -> CommandFailure {
        unknown("notification", id, list: "satchel notification list")
    }
}
