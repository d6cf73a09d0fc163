import SatchelCore
import Glibc
import StillCodecs

/// How a sound is encoded to AAC until its bytes suit. A value without input or output.
///
/// The last attempt can't be too large: a packet that its ``ByteBudget`` doesn't reach for is replaced by silence.
struct AudioLadder: Hashable, Sendable {
    private(set) var bitRate: Int
    /// Encodes that were made.
    private(set) var encodes = 0
    private(set) var isLast = false

    private let aim: Int64
    private let cap: Int64

    static let mostEncodes = 4
    private static let margins = [0.95, 0.8]

    init(bitRate: Int, aim: Int64?, cap: Int64) {
        self.bitRate = bitRate
        self.aim = min(aim ?? cap, cap)
        self.cap = cap
    }

    /// Bytes at which the current attempt is not worth going on with.
    var limit: Int64 { encodes == 0 ? aim : cap }

    /// Takes note of what the attempt at ``bitRate`` came to.
    ///
    /// - Returns: Whether another is to be made, at the new one; otherwise the last one's result stays.
    mutating func next(after outcome: PictureLadder.Outcome) -> Bool {
        encodes += 1
        let total: Double
        switch outcome {
        case .finished(let bytes):
            guard bytes > aim, !isLast else { return false }
            if bytes <= cap && (encodes >= Self.mostEncodes - 1 || bitRate == AudioPlan.leastBitRate) { return false }
            total = Double(bytes)
        case .stopped(let fraction):
            guard !isLast else { return false }
            total = Double(encodes == 1 ? aim : cap) / max(0.001, min(1, fraction))
        }
        if encodes >= Self.mostEncodes - 1 || bitRate == AudioPlan.leastBitRate {
            bitRate = AudioPlan.leastBitRate
            isLast = true
            return true
        }
        let margin = Self.margins[min(encodes, Self.margins.count) - 1]
        bitRate = max(AudioPlan.leastBitRate, Int(Double(bitRate) * min(1, Double(aim) / total) * margin))
        return true
    }
}
