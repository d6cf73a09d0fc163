extension PostgresSchema {
    /// Where other nodes reach one, for whoever follows a job there that it carries out.
    static let cluster = Migration(
        version: 14, leastNode: 1, steps: [.together(["ALTER TABLE nodes ADD COLUMN url text"])])
}
