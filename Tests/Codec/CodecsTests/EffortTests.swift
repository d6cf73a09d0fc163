import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// How much effort the time that is left allows: the decisions alone, over many costs and times.
@Suite struct EffortTests {
    private static let times = [0, 0.005, 0.05, 0.3, 1, 2.5, 10, 30, 3600]
    private static let costs = times.dropFirst().flatMap { full in
        [0.1, 0.5, 0.95, 1].map { WorkCost(full: full, reduced: full * $0) }
    }

    @Test func `without hurry everything is made with full effort`() {
        for cost in Self.costs { #expect(EffortChoice(cost, secondsLeft: nil) == .full) }
    }

    @Test(arguments: costs)
    func `more time never means less effort`(cost: WorkCost) {
        func rank(_ choice: EffortChoice) -> Int { [.skip, .reduced, .full].firstIndex(of: choice) ?? -1 }
        let ranks = Self.times.map { rank(EffortChoice(cost, secondsLeft: $0)) }
        #expect(ranks == ranks.sorted())
        #expect(ranks.last == 2 || cost.full > 2880)
    }

    @Test(arguments: costs)
    func `what fits is made with full effort, and what may fit is never left out`(cost: WorkCost) {
        for left in Self.times {
            let choice = EffortChoice(cost, secondsLeft: left)
            if cost.full <= left * 0.8 { #expect(choice == .full) }
            if min(cost.full, cost.reduced) <= left * EffortChoice.uncertainty { #expect(choice != .skip) }
            if choice == .reduced { #expect(cost.reduced < cost.full * 0.9) }
            // What is said has both figures, or there is nothing to say.
            #expect((choice.haste(cost, secondsLeft: left) == nil) == (choice == .full))
        }
    }

    @Test func `the note says what was estimated and what was left`() {
        let cost = WorkCost(full: 4.12, reduced: 1)
        #expect(
            EffortChoice.reduced.haste(cost, secondsLeft: 2)?.cause
                == "an estimated 4.12 s were more than the 2.00 s left")
        #expect(
            EffortChoice.skip.haste(WorkCost(full: 4, reduced: 0.96), secondsLeft: 0.04)?.cause
                == "an estimated 0.96 s were more than the 0.04 s left")
    }

    @Test(arguments: costs, times)
    func `work is begun again only where it won't be done, and its cheaper version will`(
        cost: WorkCost, left: Double
    ) {
        for done in [0, 0.01, 0.03, 0.2, 0.5, 0.9, 1] {
            for seconds in [0.01, 0.1, 1, 20] {
                let all = done > 0 ? seconds / done : .infinity
                guard Pace.shouldStartOver(done: done, after: seconds, cost, secondsLeft: left) else { continue }
                #expect(all - seconds > left && all * cost.reduced / cost.full < left)
            }
        }
        #expect(!Pace.shouldStartOver(done: 0.5, after: 1, cost, secondsLeft: nil))
        #expect(!Pace.shouldStartOver(done: 0.999, after: 1, cost, secondsLeft: 0.1))
    }

    @Test func `reduced effort makes a smaller rendition of every kind`() throws {
        func expectSmaller(_ reduced: Int, _ full: Int, _ kind: MediaKind) {
            #expect(reduced < full && reduced * 3 > full, "\(kind): \(reduced) of \(full)")
        }
        let profile = Profile.notification
        let size = PixelSize(width: 4000, height: 3000)
        let policies = ImagePolicies(order: WorkOrder(profile: profile), kind: .image)
        let sides = [policies.reduced(for: size), policies].compactMap {
            $0.main?.framing.scaledSize(of: size).longestSide
        }
        expectSmaller(sides[0], sides[1], .image)
        let animation = try #require(profile.animation)
        let full = AnimationFormat(animation.type).size(of: size, side: animation.longestSide).longestSide
        expectSmaller(AnimationFacts.reducedSide(of: PixelRect(size), animation), full, .animation)
        try withDescriptor(Repository.media.appending(path: "mp4/film.mp4")) { file in
            let clip = try #require(try Clip.open(file, sniffed: "video/mp4", order: WorkOrder(profile: profile)))
            var picture = try #require(clip.facts.picture)
            picture.upright = PixelSize(width: 1920, height: 1080)
            var policy = try #require(profile.video)
            (policy.aim, policy.cap) = (nil, .max / 16)
            let widths = [Effort.reduced, .full].map {
                VideoPlan.pictures(picture, policy, seconds: 2, audioBitRate: 0, effort: $0).width
            }
            expectSmaller(widths[0], widths[1], .video)
        }
    }
}
