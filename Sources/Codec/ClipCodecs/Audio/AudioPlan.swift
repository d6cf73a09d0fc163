import SatchelCore
import StillCodecs

/// How sound is encoded: what a policy and a source come to. A value without input or output.
enum AudioPlan {
    /// What AAC has, highest first.
    private static let rates = [48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000]

    /// Below this there is nothing left of speech.
    static let leastBitRate = 6_000

    /// How AAC is encoded at `bitRate`.
    static func samples(_ facts: AudioFacts, bitRate: Int) -> Encoder.Samples {
        let channels = facts.channels == 1 || bitRate < 40_000 ? 1 : 2
        let highest = bitRate < 12_000 ? 8_000 : (bitRate < 24_000 ? 16_000 : (bitRate < 40_000 ? 24_000 : 48_000))
        // Of a rate that AAC lacks nothing is lost by the next higher one.
        let rate = rates.last { $0 >= min(facts.rate, highest) } ?? highest
        // More than four bits a sample are not heard.
        return Encoder.Samples(codec: .aac, rate: rate, channels: channels, bitRate: min(bitRate, rate * channels * 4))
    }

    /// The best PCM of 16 bits with which `seconds` take at most `bytes`: first fewer samples a second, then one channel,
    /// then fewer still; nil where not even telephone quality fits.
    static func wave(_ facts: AudioFacts, seconds: Double, bytes: Int64) -> Encoder.Samples? {
        let own = min(facts.rate, 48_000)
        let known = [own] + rates.filter { $0 < own }
        let channels = min(2, facts.channels)
        let stereo = channels == 2 ? known.filter { $0 >= 22_050 }.map { ($0, 2) } : []
        return (stereo + known.map { ($0, 1) })
            .map { Encoder.Samples(codec: .pcm, rate: $0, channels: $1, bitRate: 0) }
            .first { waveBytes($0, seconds: seconds) <= bytes }
    }

    /// What `seconds` of PCM take, at most: this is arithmetic, and the encoder holds to it.
    static func waveBytes(_ samples: Encoder.Samples, seconds: Double) -> Int64 {
        ContainerSize.wave + mostSamples(samples, seconds: seconds) * Int64(samples.channels * 2)
    }

    /// More samples are never written.
    static func mostSamples(_ samples: Encoder.Samples, seconds: Double) -> Int64 {
        Int64((min(max(seconds, 0), 1e9) * Double(samples.rate)).rounded(.up))
    }

    /// Bits per second with which `seconds` stay within `bytes`, at most `wanted`.
    static func bitRate(wanted: Int, bytes: Int64, seconds: Double) -> Int {
        let available = Double(max(0, bytes - 4_000)) * 8 * 0.93 / max(seconds, 0.1)
        return max(leastBitRate, Int(min(Double(wanted), available)))
    }
}
