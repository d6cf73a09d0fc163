import SatchelCore
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// The decisions, against encoders of all sorts: numbers alone.
@Suite struct StillPlanTests {
    private struct Case {
        var policy: StillPolicy
        var size: PixelSize
        var channels: Int
        var truecolour: Int64?
        var fine: FineColours?
    }

    private func anyCase(_ random: inout SeededGenerator) -> Case {
        let types: [[MediaType]] = [
            [.jpeg], [.png], [.webp], [.jpeg, .png], [.jpeg, .webp, .png], [.png, .jpeg], [.png, .webp],
            [.webp, .jpeg],
        ]
        let chosen = types.randomElement(using: &random) ?? [.jpeg]
        let channels = chosen == [.jpeg] ? 3 : Int.random(in: 3...4, using: &random)
        let floor = chosen.compactMap(BoundedStill.floor(of:)).min() ?? 0
        let cap = floor + Int64.random(in: 0...(1 << Int64.random(in: 0...24, using: &random)), using: &random)
        let quality = Int.random(in: 1...100, using: &random)
        let side = 1 << Int.random(in: 0...14, using: &random)
        let isFixed = Int.random(in: 0..<4, using: &random) == 0
        let aim = Bool.random(using: &random) ? Int64.random(in: floor...cap, using: &random) : nil
        let policy = StillPolicy(
            role: .main, framing: Framing(side: isFixed ? nil : side, fit: .inside), types: chosen, quality: quality,
            minimumQuality: Int.random(in: 1...quality, using: &random), aim: aim, cap: cap)
        let size = PixelSize(
            width: Int.random(in: 1...side, using: &random), height: Int.random(in: 1...side, using: &random))
        return Case(
            policy: policy, size: size, channels: channels,
            truecolour: Bool.random(using: &random) ? Int64.random(in: 0...100_000_000, using: &random) : nil,
            fine: channels == 3 && Bool.random(using: &random)
                ? FineColours(
                    isGrey: Bool.random(using: &random), lossless: Int64.random(in: 0...1_000_000, using: &random))
                : nil)
    }

    private enum Response: CaseIterable {
        /// Bytes that fall with quality and pixels as files do.
        case monotone
        /// Any bytes at all.
        case random
        /// Nothing ever fits but what arithmetic makes fit.
        case stubborn
        /// Less quality and fewer pixels take more.
        case inverse
    }

    private func bytes(
        _ response: Response, _ attempt: StillAttempt, density: Double, channels: Int = 3,
        _ random: inout SeededGenerator
    ) -> Int64 {
        let area = Double(attempt.size.area)
        let worth = Double(attempt.quality ?? 100) / 100
        let bytes: Double =
            switch response {
            case .monotone: 60 + area * density * worth
            case .random: Double.random(in: 0...1e8, using: &random)
            case .stubborn: 1e15
            case .inverse: 1e7 * density / (worth * area)
            }
        guard attempt.isBounded else { return Int64(bytes) }
        let way: BoundedStill =
            switch attempt.form {
            case .quality: .jpeg
            case .truecolour, .displayP3: .png(channels: channels)
            case .palette: .palettePNG
            case .plain: .plainWebP(channels: channels)
            }
        return min(Int64(bytes), way.mostBytes(attempt.size))
    }

    @Test func `it ends after at most six encodes within the cap, and never enlarges, whatever an encoder does`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<1_500 {
            let given = anyCase(&random)
            let density = Double.random(in: 0.001...8, using: &random)
            for response in Response.allCases {
                var plan = StillPlan(
                    given.policy, size: given.size, channels: given.channels, truecolour: given.truecolour,
                    fine: given.fine)
                var smallest = Int64.max
                while let attempt = plan.next {
                    #expect(attempt.size.width <= given.size.width && attempt.size.height <= given.size.height)
                    #expect(attempt.size.width >= 1 && attempt.size.height >= 1)
                    #expect(given.policy.types.contains(attempt.type))
                    #expect(given.channels == 3 || attempt.type.hasTransparency)
                    #expect(!given.policy.isFixed || attempt.size == given.size)
                    #expect(attempt.quality.map { (1...max(20, given.policy.quality)).contains($0) } ?? true)
                    #expect(!plan.attempts.map(\.attempt).contains(attempt), "\(attempt) twice")
                    #expect(plan.attempts.last?.attempt.isBounded != true)
                    let bytes = bytes(response, attempt, density: density, channels: given.channels, &random)
                    smallest = min(smallest, bytes)
                    plan.record(bytes)
                }
                #expect((1...StillPlan.mostEncodes).contains(plan.attempts.count))
                if let best = plan.best {
                    #expect(best.bytes <= given.policy.cap)
                    #expect(!plan.note.isEmpty)
                } else {
                    #expect(given.policy.isFixed)
                    #expect(smallest > plan.aim)
                }
                if response == .stubborn, !given.policy.isFixed { #expect(plan.best?.attempt.isBounded == true) }
            }
        }
    }

    @Test func `below the lowest quality nothing is tried for an aim's sake, only for the cap's`() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<1_500 {
            var given = anyCase(&random)
            given.policy.framing.side = 1 << 14
            // Nobody knows what an encoder does below.
            given.policy.quality = max(50, given.policy.quality)
            given.policy.minimumQuality = Int.random(in: 20...given.policy.quality, using: &random)
            let density = Double.random(in: 0.001...8, using: &random)
            var plan = StillPlan(given.policy, size: given.size, channels: given.channels, truecolour: given.truecolour)
            while let attempt = plan.next { plan.record(bytes(.monotone, attempt, density: density, &random)) }
            // Where headers count, pixels don't.
            guard let best = plan.best, given.policy.cap >= 3_000 else { continue }
            let isBelow = best.attempt.size != given.size || best.attempt.quality ?? 100 < given.policy.floorQuality
            // What an encode at the full size and the lowest quality would take.
            let atFloor = StillAttempt(
                type: best.attempt.type, form: .quality(given.policy.floorQuality), size: given.size)
            if isBelow, best.attempt.quality != nil {
                #expect(bytes(.monotone, atFloor, density: density, &random) > given.policy.cap * 3 / 4)
            }
            if let quality = best.attempt.quality, quality > given.policy.floorQuality {
                #expect(best.bytes <= plan.aim)
            }
        }
    }

    @Test func `beside JPEG of fine colours PNG is tried once, and the smaller one is taken, whatever an encoder does`()
    {
        var random = SeededGenerator(seed: 3)
        var (wins, losses, rescues) = (0, 0, 0)
        for _ in 0..<3_000 {
            var given = anyCase(&random)
            given.policy.types = [[.jpeg], [.jpeg, .png], [.jpeg, .webp, .png]].randomElement(using: &random) ?? []
            given.policy.cap = max(given.policy.cap, 700)
            given.policy.aim = given.policy.aim.map { max(500, min($0, given.policy.cap)) }
            let fine = FineColours(isGrey: false, lossless: Int64.random(in: 0...200_000, using: &random))
            let density = Double.random(in: 0.001...8, using: &random)
            let lossless = Int64.random(in: 70...400_000, using: &random)
            var plan = StillPlan(given.policy, size: given.size, channels: 3, fine: fine)
            let rival = StillAttempt(type: .png, form: .truecolour, size: plan.size)
            while let attempt = plan.next {
                if attempt.type == .jpeg, !attempt.isBounded { #expect(attempt.chroma == .full) }
                plan.record(attempt == rival ? lossless : bytes(.monotone, attempt, density: density, &random))
            }
            guard let first = plan.attempts.first else { continue }
            let isTried = given.policy.types.contains(.png) && fine.isWorthTrying(besideJPEG: first.bytes)
            #expect(plan.attempts.filter { $0.attempt == rival }.count == (isTried ? 1 : 0))
            #expect(first.attempt.quality == given.policy.quality)
            guard isTried, let best = plan.best else { continue }
            #expect(plan.attempts[1].attempt == rival && plan.note.count <= 200)
            let suits = first.bytes <= (given.policy.quality > given.policy.floorQuality ? plan.aim : given.policy.cap)
            if suits {
                #expect(best.bytes == min(first.bytes, lossless) && plan.attempts.count == 2)
            } else if lossless <= plan.aim {
                #expect(best.attempt == rival && plan.attempts.count == 2)
            } else if lossless <= given.policy.cap, best.attempt != rival {
                // Only what keeps pixels and the lowest quality, and is smaller, is worth the loss.
                #expect(best.attempt.size == given.size && best.bytes < lossless)
                #expect(best.attempt.quality.map { $0 >= given.policy.floorQuality } == true)
            }
            if best.attempt != rival { losses += 1 } else if best.bytes <= plan.aim { wins += 1 } else { rescues += 1 }
        }
        #expect(wins > 100 && losses > 100 && rescues > 10, "\(wins), \(losses), \(rescues)")
    }

    /// What is said, for bytes in order.
    @Test(arguments: [
        ([1_022, 534], "PNG, 2 encodes, because JPEG at 82 in 4:4:4 takes 1022 bytes"),
        ([1_022, 2_000], "JPEG quality 82 in 4:4:4, 2 encodes, as PNG 2000 bytes, under the aim of 500000 bytes"),
        ([100], "JPEG quality 82 in 4:4:4, 1 encode, under the aim of 500000 bytes"),
    ])
    func `the note says why it is PNG`(bytes: [Int64], note: String) {
        var plan = StillPlan(
            StillPolicy(
                role: .main, framing: Framing(side: 80, fit: .inside), quality: 82, aim: 500_000, cap: 1_000_000),
            size: PixelSize(width: 80, height: 15), channels: 3, fine: FineColours(lossless: 1_000))
        for bytes in bytes where plan.next != nil { plan.record(bytes) }
        #expect(plan.next == nil)
        #expect(plan.note == note)
    }

    @Test func `one encode is enough where the first one fits`() {
        var plan = StillPlan(
            StillPolicy(
                role: .main, framing: Framing(side: 1000, fit: .inside), quality: 82, aim: 500_000, cap: 1_000_000),
            size: PixelSize(width: 1000, height: 800), channels: 3)
        #expect(plan.next == StillAttempt(type: .jpeg, form: .quality(82), size: PixelSize(width: 1000, height: 800)))
        plan.record(500_000)
        #expect(plan.next == nil && plan.best?.bytes == 500_000)
        #expect(plan.note == "JPEG quality 82, 1 encode, under the aim of 500000 bytes")
    }

    /// What the notes say, for bytes in order.
    @Test(arguments: [
        (
            [900_000, 480_000], Int64?.some(500_000), Int64(1_000_000),
            "JPEG quality 50, 2 encodes, because 900000 bytes at 82 were over the aim of 500000"
        ),
        (
            [2_000_000, 990_000], .some(500_000), 1_000_000,
            "JPEG quality 41, 2 encodes, over the aim of 500000 bytes"
                + " because quality 50 is the profile's lowest, which only the cap of 1000000 overrules"
        ),
        (
            [900_000, 480_000], nil, 500_000,
            "JPEG quality 48, 2 encodes, because 900000 bytes at 82 were over the cap of 500000"
        ),
    ])
    func `the note says what won, and by which bytes`(bytes: [Int], aim: Int64?, cap: Int64, note: String) {
        var plan = StillPlan(
            StillPolicy(role: .main, framing: Framing(side: 1000, fit: .inside), quality: 82, aim: aim, cap: cap),
            size: PixelSize(width: 1000, height: 800), channels: 3)
        for bytes in bytes where plan.next != nil { plan.record(Int64(bytes)) }
        #expect(plan.next == nil)
        #expect(plan.note == note)
    }
}
