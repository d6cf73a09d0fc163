extension Schema {
    /// Where the bytes of an upload are that comes to a bucket: JSON.
    static let uploadParts = "ALTER TABLE uploads ADD COLUMN parts TEXT;"
}
