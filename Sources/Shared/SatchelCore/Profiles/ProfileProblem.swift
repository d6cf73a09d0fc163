/// One thing that is wrong with a profile, in the words of its file.
public struct ProfileProblem: Hashable, Sendable, CustomStringConvertible {
    /// The key with its parents: `image.quality`.
    public var key: String
    /// The value as it was read.
    public var value: String
    /// What would do: `must be a whole number from 1 to 100`.
    public var remedy: String

    public init(key: String, value: String, remedy: String) {
        self.key = key
        self.value = value
        self.remedy = remedy
    }

    public var description: String {
        value.isEmpty ? "\(key): \(remedy)" : "\(key): \(value) \(remedy)"
    }

    /// The same of a part with this name.
    public func below(_ name: String) -> ProfileProblem {
        ProfileProblem(key: "\(name).\(key)", value: value, remedy: remedy)
    }
}
