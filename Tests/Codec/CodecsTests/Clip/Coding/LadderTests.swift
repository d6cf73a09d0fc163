import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// The decisions alone, over random sources and caps.
@Suite struct LadderTests {
    private static func random(
        _ generator: inout some RandomNumberGenerator
    ) -> (ladder: PictureLadder, upright: PixelSize, seconds: Double, cap: Int64, aim: Int64?) {
        let upright = PixelSize(
            width: Int.random(in: 2...4000, using: &generator), height: Int.random(in: 2...4000, using: &generator))
        let cap = Int64(exp2(Double.random(in: 13...33, using: &generator)))
        let aim = Bool.random(using: &generator) ? Int64.random(in: 4_000...cap, using: &generator) : nil
        let seconds = exp2(Double.random(in: -4...13, using: &generator))
        let size = upright.even(longestSide: Int.random(in: 16...4000, using: &generator))
        let settings = Encoder.Pictures(
            width: size.width, height: size.height, timeBase: TimeBase(1, 90_000),
            frameRate: Double.random(in: 1...120, using: &generator),
            rateFactor: Int.random(in: 10...45, using: &generator),
            maximumBitRate: Bool.random(using: &generator)
                ? Int.random(in: 8_000...50_000_000, using: &generator) : nil,
            preset: "veryfast")
        let ladder = PictureLadder(
            settings,
            audioBitRate: Bool.random(using: &generator) ? Int.random(in: 6_000...128_000, using: &generator) : 0,
            upright: upright, seconds: seconds, aim: aim, cap: cap)
        return (ladder, upright, seconds, cap, aim)
    }

    @Test func `whatever attempts come to, there are at most four, and the last one can't be too large`() {
        var generator = SeededGenerator()
        var lasts = 0
        for _ in 0..<3_000 {
            var (ladder, upright, seconds, cap, aim) = Self.random(&generator)
            var before = ladder.settings
            while true {
                let outcome: PictureLadder.Outcome
                if ladder.isLast {
                    lasts += 1
                    outcome = .finished(bytes: Int64.random(in: 0...cap, using: &generator))
                } else if Bool.random(using: &generator) {
                    outcome = .stopped(after: Double.random(in: -0.1...1.5, using: &generator))
                } else {
                    // An attempt that is over the cap is stopped.
                    outcome = .finished(bytes: Int64.random(in: 0...cap, using: &generator))
                }
                let goesOn = ladder.next(after: outcome)
                #expect(ladder.encodes <= PictureLadder.mostEncodes)
                guard goesOn else {
                    guard case .finished(let bytes) = outcome else {
                        Issue.record("ended with an attempt that was stopped")
                        break
                    }
                    #expect(bytes <= cap)
                    if let aim, bytes > aim { #expect(ladder.encodes >= PictureLadder.mostEncodes - 1) }
                    break
                }
                let now = ladder.settings
                #expect(now != before)
                #expect(
                    now.width.isMultiple(of: 2) && now.height.isMultiple(of: 2) && now.width >= 2 && now.height >= 2)
                #expect(now.width <= max(2, upright.width + 1) && now.height <= max(2, upright.height + 1))
                #expect(now.rateFactor <= 45 && now.spacing <= seconds && now.spacing.isFinite)
                #expect(ladder.isLast || now.rateFactor >= before.rateFactor)
                before = now
            }
        }
        #expect(lasts > 300)
    }

    @Test func `the worst first picture of the last attempt has a place`() {
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            var ladder = Self.random(&generator).ladder
            while ladder.next(after: .stopped(after: 0.01)) {}
            #expect(ladder.isLast)
            let size = PixelSize(width: ladder.settings.width, height: ladder.settings.height)
            let macroblocks = Int64((size.width + 15) / 16 * ((size.height + 15) / 16))
            let first = Int64(Double(ladder.pictureBytes) * PictureLadder.firstShare)
            #expect(macroblocks * 400 + 200 <= first || size.longestSide <= 16, "\(size) of \(ladder.pictureBytes)")
            #expect(ladder.pictureBytes + ladder.audioBytes >= 0)
        }
    }

    @Test func `a simple encoder is foretold in two attempts`() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            var (ladder, _, seconds, _, _) = Self.random(&generator)
            let upright = PixelSize(width: ladder.settings.width, height: ladder.settings.height)
            ladder = PictureLadder(
                ladder.settings, audioBitRate: 0, upright: upright, seconds: seconds,
                aim: 1_000_000, cap: 100_000_000)
            let factor = ladder.settings.rateFactor
            let size = Double(ladder.settings.width * ladder.settings.height)
            let start = Double.random(in: 1_000_000...20_000_000, using: &generator)
            var attempts = 0
            repeat {
                attempts += 1
                let now = ladder.settings
                let bytes =
                    start * exp2(-Double(now.rateFactor - factor) / 6)
                    * pow(Double(now.width * now.height) / size, 0.75)
                guard ladder.next(after: .finished(bytes: Int64(bytes))) else { break }
            } while attempts < 5
            // Below 160 pixels it is the frame rate that goes, of which this encoder knows nothing.
            #expect(ladder.encodes <= 2 || ladder.settings.spacing > 0)
        }
    }

    @Test func `a budget never gives more than it has, and keeps something for the end`() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let total = Int64.random(in: -10...1_000_000, using: &generator)
            var budget = ByteBudget(total: total, seconds: 10, head: 0.3)
            var taken: Int64 = 0
            for step in 0..<200 {
                let bytes = Int64.random(in: -5...50_000, using: &generator)
                let time = Double(step) / 20
                if budget.take(bytes, at: time) {
                    taken += bytes
                    #expect(Double(taken) <= Double(max(0, total)) * (0.3 + 0.7 * time / 10) + 1)
                }
                _ = budget.take(.max, at: .nan)
            }
            #expect(taken <= max(0, total) && taken == budget.used)
        }
    }

    @Test func `every packet of a sound has a place, be it as silence`() throws {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let packets = Int64.random(in: 1...400, using: &generator)
            let silence = [UInt8](repeating: 0, count: Int.random(in: 1...30, using: &generator))
            let least = packets * (Int64(silence.count) + 44)
            let bytes = least + Int64.random(in: -10...20_000, using: &generator)
            guard var budget = AudioBudget(bytes: bytes, packets: packets, seconds: 10, silence: silence) else {
                #expect(bytes < least)
                continue
            }
            #expect(bytes >= least)
            var written: Int64 = 0
            for packet in 0..<packets {
                let size = Int.random(in: 1...2_000, using: &generator)
                let keeps = budget.keeps(size, at: 10 * Double(packet) / Double(packets))
                written += 44 + Int64(keeps ? size : silence.count)
            }
            #expect(written <= bytes)
        }
        #expect(AudioBudget(bytes: .max, packets: .max, seconds: 1, silence: [1]) == nil)
    }

    @Test func `PCM is the best that fits`() throws {
        var generator = SeededGenerator()
        for _ in 0..<1_000 {
            let rate = Int.random(in: 4_000...192_000, using: &generator)
            let facts = AudioFacts(
                stream: 0, codec: .other("flac"), name: "flac", rate: rate,
                channels: Int.random(in: 1...8, using: &generator),
                timeBase: TimeBase(1, Int32(rate)))
            let seconds = Double.random(in: 0...4_000, using: &generator)
            let bytes = Int64.random(in: 0...50_000_000, using: &generator)
            guard let samples = AudioPlan.wave(facts, seconds: seconds, bytes: bytes) else {
                #expect(Double(min(rate, 8_000) * 2) * seconds + 100 > Double(bytes) - 4)
                continue
            }
            #expect(AudioPlan.waveBytes(samples, seconds: seconds) <= bytes)
            #expect(samples.rate <= min(rate, 48_000) && samples.channels <= min(2, facts.channels))
            #expect(Double(samples.rate * samples.channels * 2) * seconds <= Double(bytes))
        }
    }
}
