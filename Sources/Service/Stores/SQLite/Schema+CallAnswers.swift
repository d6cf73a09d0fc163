extension Schema {
    /// What came of the last attempts of a call: JSON.
    static let callAnswers = "ALTER TABLE calls ADD COLUMN answers TEXT;"
}
