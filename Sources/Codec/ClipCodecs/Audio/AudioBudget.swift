import StillCodecs

/// What the packets of a sound may take so that every one has a place, be it as silence. A value without input or output.
struct AudioBudget: Hashable, Sendable {
    let silence: [UInt8]
    private var budget: ByteBudget

    /// - Parameters:
    ///   - bytes: For packets and what each adds to the index.
    ///   - packets: How many there will be at most.
    /// - Returns: Nil where not even silence fits.
    init?(bytes: Int64, packets: Int64, seconds: Double, silence: [UInt8]) {
        let (reserve, overflow) = packets.multipliedReportingOverflow(
            by: Int64(silence.count) + ContainerSize.sample)
        guard !overflow, reserve <= bytes else { return nil }
        self.silence = silence
        budget = ByteBudget(total: bytes - reserve, seconds: seconds, head: 0.05)
    }

    /// Whether a packet of `bytes` that is heard at `time` is written as it is.
    mutating func keeps(_ bytes: Int, at time: Double) -> Bool {
        budget.take(Int64(max(0, bytes - silence.count)), at: time)
    }

    /// AAC's packets in `seconds`, with those that prime and end it.
    static func packets(_ settings: Encoder.Samples, seconds: Double) -> Int64 {
        AudioPlan.mostSamples(settings, seconds: seconds) / 1024 + 4
    }
}
