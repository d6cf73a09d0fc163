/// One pair of a job's metadata, by which it is found.
public struct JobLabel: Hashable, Sendable {
    /// Pairs of a job that are found, at most.
    public static let most = 20
    /// Bytes of a value that is found, at most.
    public static let longestValue = 200

    public var key: String
    public var value: String

    public init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
    }

    /// Those pairs of a job's metadata by which it is found: the first ``most`` by the bytes of their keys whose values are
    /// no longer than ``longestValue``. The rest is kept, and not found.
    public static func found(in metadata: [String: String]) -> [JobLabel] {
        Array(
            metadata.filter { $0.value.utf8.count <= longestValue }
                .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.prefix(most)
                .map { JobLabel($0.key, $0.value) })
    }
}
