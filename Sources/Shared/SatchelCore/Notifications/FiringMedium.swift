/// A medium of a payload that was made, and what became of it.
public struct FiringMedium: Hashable, Sendable, Codable {
    /// Why it isn't in the payload, or not at one of its places.
    public struct Failure: Hashable, Sendable, Codable {
        public var identifier: String
        public var code: String
        public var message: String

        public init(identifier: String, code: String, message: String) {
            self.identifier = identifier
            self.code = code
            self.message = message
        }
    }

    public var identifier: String
    /// Nil where nothing came of it.
    @Nullable public var attachment: AttachmentID?
    /// The id of the link that opens it.
    @Nullable public var link: String?
    @Nullable public var failure: Failure?

    public init(identifier: String, attachment: AttachmentID?, link: String?, failure: Failure?) {
        self.identifier = identifier
        self.attachment = attachment
        self.link = link
        self.failure = failure
    }
}
