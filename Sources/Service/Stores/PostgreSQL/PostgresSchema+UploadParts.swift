extension PostgresSchema {
    /// Where the bytes of an upload are that comes to a bucket: JSON.
    static let uploadParts = Migration(
        version: 9, leastNode: 1, steps: [.together(["ALTER TABLE uploads ADD COLUMN parts text"])])
}
