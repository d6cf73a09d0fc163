extension PostgresSchema {
    /// Notifications are looked through in the order of their instants before they are due.
    static let upcoming = Migration(
        version: 13, leastNode: 1,
        steps: [
            .index("notifications_upcoming", on: "notifications (next_at, key) WHERE next_at IS NOT NULL"),
            // Which serves for those that are due as well.
            .together(["DROP INDEX IF EXISTS notifications_due"]),
        ])
}
