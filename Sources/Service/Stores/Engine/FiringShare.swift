/// A node's share of what nodes do for all tenants' notifications: of so many parts those for which it comes first among the
/// nodes that fire. Who joins takes parts from the others and moves none between them, and whose node is gone go to the others:
/// what the rest have prepared stays theirs.
struct FiringShare: Hashable, Sendable {
    /// A notification's part is the remainder of its key.
    static let parts = 1024

    /// A bit for each part, as PostgreSQL's `get_bit` counts them; nil: all of them.
    let bits: [UInt8]?

    static let whole = FiringShare(bits: nil)
    /// A node has this that ends while others fire.
    static let none = FiringShare(bits: [UInt8](repeating: 0, count: parts / 8))

    private init(bits: [UInt8]?) {
        self.bits = bits
    }

    /// - Parameter nodes: All that fire. A node that isn't among them, or alone, has the whole.
    init(of node: String, among nodes: Set<String>) {
        guard nodes.count > 1, nodes.contains(node) else {
            bits = nil
            return
        }
        let others = nodes.filter { $0 != node }.map { (name: $0, seed: Self.seed(of: $0)) }
        let own = Self.seed(of: node)
        var bits = [UInt8](repeating: 0, count: Self.parts / 8)
        for part in 0..<Self.parts {
            let weight = Self.weight(of: part, seed: own)
            let isFirst = others.allSatisfy { (weight, node) > (Self.weight(of: part, seed: $0.seed), $0.name) }
            if isFirst { bits[part / 8] |= 1 << UInt8(part % 8) }
        }
        self.bits = bits
    }

    /// Whether a part is among them.
    func has(_ part: Int) -> Bool {
        bits.map { $0[part / 8] & 1 << UInt8(part % 8) != 0 } ?? true
    }

    /// The same on every node, whatever it runs on: FNV-1a.
    private static func seed(of name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Spread as by SplitMix64.
    private static func weight(of part: Int, seed: UInt64) -> UInt64 {
        var value = seed &+ UInt64(part + 1) &* 0x9e37_79b9_7f4a_7c15
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
