/// Where the bytes of an upload are that comes to a store piece by piece: in objects one behind the other.
public struct UploadParts: Hashable, Sendable, Codable {
    /// Consecutive bytes.
    public struct Part: Hashable, Sendable, Codable {
        /// Unlike every other, among those of whoever was overtaken too.
        public var name: String
        public var bytes: Int64

        public init(name: String, bytes: Int64) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// In order, without a gap.
    public var parts: [Part]
    /// Whether all bytes are there; then nothing comes behind them.
    public var isWhole = false

    public init(_ parts: [Part] = []) {
        self.parts = parts
    }

    /// In all.
    public var bytes: Int64 { parts.reduce(0) { $0 + $1.bytes } }
}
