import NIOCore

/// Where a connection stands and since when: a decision without input or output, asked every now and then whether it
/// has gone on for too long.
struct ConnectionTimeouts: Sendable {
    enum Stage: Hashable, Sendable {
        /// Nothing has come yet.
        case opening
        /// Between two requests.
        case idle
        case head
        case body
        /// The request is here; it is being answered.
        case answering
        /// The answer was sent and our side closed; what still comes is thrown away.
        case lingering
    }

    enum Verdict: Hashable, Sendable {
        case fine
        /// Say that it was too slow, then close.
        case refuse
        case close
        /// Reset, so that nothing that the kernel still holds is delivered.
        case cut
    }

    private let limits: ConnectionLimits
    private(set) var stage = Stage.opening
    private var exchange = 0
    private var since: NIODeadline
    private var inWindow: NIODeadline
    private var inBytes = 0
    private var answerSince: NIODeadline?
    private var outWindow: NIODeadline
    private var outBytes: Int64 = 0
    /// Bytes handed to the socket so far.
    private var written: Int64 = 0
    private var delivered: Int64 = 0
    private var inputClosedAt: NIODeadline?
    private var deadline: NIODeadline?

    init(_ limits: ConnectionLimits, at now: NIODeadline) {
        self.limits = limits
        since = now
        inWindow = now
        outWindow = now
    }

    mutating func received(_ bytes: Int) { inBytes += bytes }

    /// The connection is in this stage now.
    ///
    /// - Parameter exchange: Tells requests apart.
    mutating func enter(_ stage: Stage, exchange: Int, at now: @autoclosure () -> NIODeadline) {
        guard stage != self.stage || exchange != self.exchange else { return }
        if stage == .idle || exchange != self.exchange { answerSince = nil }
        self.stage = stage
        self.exchange = exchange
        since = now()
        excuse(at: since)
    }

    /// Nothing is expected from the client for now, so that what doesn't come is not its fault.
    mutating func excuse(at now: NIODeadline) {
        inWindow = now
        inBytes = 0
    }

    mutating func wrote(_ bytes: Int, at now: NIODeadline) {
        written += Int64(bytes)
        if answerSince == nil {
            answerSince = now
            outWindow = now
            outBytes = delivered
        }
    }

    mutating func closedInput(at now: NIODeadline) { inputClosedAt = now }

    /// Everything has to be over by then.
    mutating func endBy(_ deadline: NIODeadline) { self.deadline = deadline }

    /// - Parameter buffered: Bytes that the socket has not taken yet.
    mutating func verdict(at now: NIODeadline, buffered: Int) -> Verdict {
        if let deadline, now >= deadline { return .cut }
        let nowDelivered = written - Int64(buffered)
        let moved = nowDelivered > delivered
        delivered = max(delivered, nowDelivered)
        if buffered == 0 {
            outWindow = now
            outBytes = delivered
        }
        if let answerSince, now - answerSince > TimeAmount(limits.response) { return .cut }
        if now - outWindow > TimeAmount(limits.rateWindow) {
            guard isFast(delivered - outBytes, in: now - outWindow) else { return .cut }
            outWindow = now
            outBytes = delivered
        }
        if inputClosedAt != nil, stage == .answering {
            if moved { inputClosedAt = now }
            if let inputClosedAt, now - inputClosedAt > TimeAmount(limits.linger) { return .cut }
        }
        switch stage {
        case .opening: return now - since > TimeAmount(limits.header) ? .close : .fine
        case .idle: return now - since > TimeAmount(limits.idle) ? .close : .fine
        case .head: return now - since > TimeAmount(limits.header) ? .refuse : .fine
        case .body:
            if now - since > TimeAmount(limits.body) { return .refuse }
            if now - inWindow > TimeAmount(limits.rateWindow) {
                guard isFast(Int64(inBytes), in: now - inWindow) else { return .refuse }
                excuse(at: now)
            }
            return .fine
        case .answering: return .fine
        case .lingering: return now - since > TimeAmount(limits.linger) && buffered == 0 ? .close : .fine
        }
    }

    private func isFast(_ bytes: Int64, in time: TimeAmount) -> Bool {
        Double(bytes) >= Double(limits.minimumRate) * Double(time.nanoseconds) / 1e9
    }
}
