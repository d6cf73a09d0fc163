public import HTTPTypes

extension HTTPField.Name: @retroactive ExpressibleByStringLiteral {
    /// A name that HTTPTypes has no constant for: a token by RFC 9110.
    public init(stringLiteral name: String) {
        self = Self(name) ?? .date
    }
}
