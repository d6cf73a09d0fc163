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
            var writer = ListWriter.notifications(format.format)
            try await Listing(limit: limit, what: "notifications").run { cursor, count in
                try await store.records.notifications(
                    of: tenant.id, in: delivered ? .delivered : .pending, category: category, after: cursor,
                    limit: count)
            } write: { record in
                try writer.write(NotificationLine(record), cells: record.cells)
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

        private struct Shown: Encodable {
            var notification: NotificationLine
            var firings: [FiringLine]
        }

        func run() async throws {
            let store = try await openStore(store)
            let name = NotificationID(rawValue: id)
            let (record, firings) = try await reported { () async throws(AttachmentError) in
                (
                    try await store.records.notification(name, of: tenant.id),
                    try await store.records.firings(of: name, tenant: tenant.id, after: nil, limit: 20)
                )
            }
            guard let record else { throw CommandFailure.unknownNotification(id) }
            print(
                try JSON.text(
                    Shown(
                        notification: NotificationLine(record), firings: firings.elements.map(FiringLine.init)),
                    pretty: true))
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
                let isKnown = try await reported { () async throws(AttachmentError) in
                    try await store.records.remove(NotificationID(rawValue: id), of: tenant.id, from: from)
                }
                if !isKnown { unknown.append(id) }
            }
            if let first = unknown.first { throw CommandFailure.unknownNotification(first) }
        }
    }
}

/// A notification as commands print it.
struct NotificationLine: Encodable {
    var id: String
    var state: NotificationRecord.State
    var generation: Int
    @Nullable var category: String?
    @Nullable var nextAt: Instant?
    @Nullable var nextLocal: String?
    var firings: NotificationRecord.Counts
    @Nullable var job: String?
    var metadata: [String: String]
    var createdAt: Instant
    @Nullable var finishedAt: Instant?
    @Nullable var error: ErrorReport?

    init(_ record: NotificationRecord) {
        id = record.id.rawValue
        state = record.state
        generation = record.generation
        category = record.submission.category
        nextAt = record.next?.at
        nextLocal = record.next?.local
        firings = record.counts
        job = record.job?.rawValue
        metadata = record.submission.metadata
        createdAt = record.createdAt
        finishedAt = record.finishedAt
        error = record.error
    }
}

/// A firing as commands print it, without its payload and links.
struct FiringLine: Encodable {
    var number: Int
    var id: String
    var state: FiringRecord.State
    var scheduledAt: Instant
    @Nullable var firedAt: Instant?
    @Nullable var late: Double?
    var coalesced: Int
    var failed: [FiringMedium.Failure]
    var dropped: [String]
    @Nullable var error: ErrorReport?

    init(_ record: FiringRecord) {
        number = record.number
        id = record.id.rawValue
        state = record.state
        scheduledAt = record.scheduledAt
        firedAt = record.firedAt
        late = record.late
        coalesced = record.coalesced
        failed = record.failed
        dropped = record.dropped
        error = record.error
    }
}

extension ListWriter {
    fileprivate static func notifications(_ format: OutputFormat) -> ListWriter {
        ListWriter(
            format,
            columns: [
                .init(title: "NOTIFICATION", width: 36), .init(title: "STATE", width: 9),
                .init(title: "NEXT", width: 24), .init(title: "FIRED", width: 5, isNumber: true),
                .init(title: "CATEGORY", width: 0),
            ], header: "notification_id,state,next_at,fired,category")
    }
}

extension NotificationRecord {
    fileprivate var cells: [String] {
        [
            Data(id.rawValue.utf8).displayPath, state.rawValue, next?.at.description ?? "-", "\(fired)",
            submission.category.map { Data($0.utf8).displayPath } ?? "-",
        ]
    }
}

extension CommandFailure {
    static func unknownNotification(_ id: String) -> CommandFailure {
        CommandFailure(
            "there is no notification '\(Data(id.utf8).displayPath)' in the store. See 'satchel notification list'.",
            status: .notFound
        )
    }
}
