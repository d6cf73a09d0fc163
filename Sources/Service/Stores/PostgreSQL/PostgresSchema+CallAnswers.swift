extension PostgresSchema {
    /// What came of the last attempts of a call: JSON.
    static let callAnswers = Migration(
        version: 11, leastNode: 1, steps: [.together(["ALTER TABLE calls ADD COLUMN answers text"])])
}
