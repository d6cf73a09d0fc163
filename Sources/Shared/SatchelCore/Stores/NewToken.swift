/// A token that is about to stand for something.
public struct NewToken: Hashable, Sendable {
    public var id: String
    /// The id of the key that the token is derived with.
    public var kid: String
    public var token: AccessToken

    public init(id: String, kid: String, token: AccessToken) {
        self.id = id
        self.kid = kid
        self.token = token
    }
}
