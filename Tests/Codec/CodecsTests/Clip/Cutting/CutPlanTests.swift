import SatchelCore
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Random groups of pictures, in decoding order: each anchor is followed by the pictures that are shown before it.
private func packets(_ groups: Int, using generator: inout some RandomNumberGenerator) -> [CutPacket] {
    var packets: [CutPacket] = []
    var shown: Int64 = 0
    func append(_ position: Int64, isRefresh: Bool) {
        packets.append(
            CutPacket(
                pts: position * 10, duration: 10, bytes: Int.random(in: 1...1000, using: &generator),
                isRefresh: isRefresh, isHidden: false))
    }
    for _ in 0..<groups {
        append(shown, isRefresh: true)
        shown += 1
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            let between = Int64.random(in: 0...3, using: &generator)
            append(shown + between, isRefresh: false)
            for step in 0..<between { append(shown + step, isRefresh: false) }
            shown += between + 1
        }
    }
    return packets
}

@Suite struct CutPlanTests {
    @Test func `a cut that is copied is whole, near enough, and needs nothing from outside`() {
        var generator = SeededGenerator()
        var plans = 0
        for _ in 0..<2000 {
            let packets = packets(Int.random(in: 1...8, using: &generator), using: &generator)
            let last = (packets.map(\.pts).max() ?? 0) + 10
            let start = Int64.random(in: 0..<last, using: &generator)
            let end = Int64.random(in: start...last, using: &generator)
            let request = CutPlan.Request(
                start: start, end: end, leniency: 2, slack: Bool.random(using: &generator) ? 50 : nil)
            guard let plan = try? CutPlan.make(packets, reachesEnd: true, request: request) else { continue }
            plans += 1
            let kept = packets[plan.packets]
            #expect(kept.first?.isRefresh == true)
            #expect(kept.first?.pts == plan.start)
            #expect(abs(plan.start - start) <= 10)
            if request.slack == nil {
                #expect(abs(plan.end - end) <= 10)
            } else {
                #expect(plan.end <= end && plan.end >= end - 50)
            }
            // Exactly the pictures that are shown from start to end.
            let expected = packets.map(\.pts).filter { $0 >= plan.start && $0 < plan.end }.sorted()
            #expect(kept.map(\.pts).sorted() == expected)
            #expect(plan.bytes == kept.reduce(0) { $0 + Int64($1.bytes) })
        }
        #expect(plans > 200)
    }

    @Test func `every cut from a refresh picture to before the next one is copied`() throws {
        var generator = SeededGenerator()
        for _ in 0..<200 {
            let packets = packets(5, using: &generator)
            let refreshes = packets.filter(\.isRefresh).map(\.pts)
            let from = Int.random(in: 0..<3, using: &generator)
            let plan = try CutPlan.make(
                packets, reachesEnd: false,
                request: CutPlan.Request(start: refreshes[from], end: refreshes[from + 1], leniency: 0))
            #expect(plan.start == refreshes[from])
            #expect(plan.end == refreshes[from + 1])
        }
    }

    @Test func `a start between keyframes, hidden pictures and an end between dependent ones are refused`() {
        func packet(_ pts: Int64, refresh: Bool = false, hidden: Bool = false) -> CutPacket {
            CutPacket(pts: pts, duration: 10, bytes: 1, isRefresh: refresh, isHidden: hidden)
        }
        let group = [packet(0, refresh: true), packet(50), packet(10), packet(20), packet(30), packet(40)]
        #expect(throws: CutPlan.Refusal(reason: "the start is on no keyframe")) {
            try CutPlan.make(group, reachesEnd: true, request: CutPlan.Request(start: 30, end: 60, leniency: 2))
        }
        #expect(throws: CutPlan.Refusal(reason: "the end lies between pictures that need each other")) {
            try CutPlan.make(group, reachesEnd: true, request: CutPlan.Request(start: 0, end: 30, leniency: 2))
        }
        let hidden = [packet(0, refresh: true, hidden: true), packet(10), packet(20)]
        #expect(throws: CutPlan.Refusal(reason: "the source hides pictures of this part")) {
            try CutPlan.make(hidden, reachesEnd: true, request: CutPlan.Request(start: 0, end: 30, leniency: 2))
        }
    }

    @Test func `decoding times that are made up rise, and come no later than their pictures`() {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let pictures = packets(4, using: &generator).map(\.pts)
            var known: [Int64?] = pictures.map { $0 }
            known[0] = nil
            let times = PacketScan.decodingTimes(of: pictures, known: known)
            #expect(times.count == pictures.count)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            #expect(zip(times, pictures).allSatisfy { $0 <= $1 })
        }
    }
}

@Suite struct SmartPlanTests {
    @Test func `what is copied and what is encoded are together the pictures of the part, each once`() throws {
        var generator = SeededGenerator()
        var heads = 0
        var tails = 0
        for _ in 0..<3000 {
            let packets = packets(Int.random(in: 2...8, using: &generator), using: &generator)
            let last = (packets.map(\.pts).max() ?? 0) + 10
            let start = Int64.random(in: 0..<last, using: &generator)
            let end = Int64.random(in: start...last, using: &generator)
            let request = CutPlan.Request(start: start, end: end, leniency: 2)
            guard let plan = try? SmartPlan.make(packets, reachesEnd: true, request: request) else {
                continue
            }
            let middle = packets[plan.middle.packets]
            #expect(middle.first?.isRefresh == true)
            #expect(middle.allSatisfy { $0.pts >= plan.middle.start && $0.pts < plan.middle.end })
            let all = plan.head + middle.map(\.pts).sorted() + plan.tail
            let first = try #require(all.first)
            #expect(all == packets.map(\.pts).filter { $0 >= first && $0 < first + Int64(all.count) * 10 }.sorted())
            // One frame at each end, and what begins up to the leniency late counts as on time.
            #expect(abs(first - start) <= 10)
            #expect(abs(first + Int64(all.count) * 10 - end) <= 10)
            #expect(plan.head.count != 1)
            for (edge, source) in [(plan.head, plan.headSource), (plan.tail, plan.tailSource)] where !edge.isEmpty {
                #expect(packets[source].isRefresh)
                #expect(packets[source].pts <= edge[0])
            }
            if !plan.tail.isEmpty { #expect(middle.last?.isRefresh == false) }
            let encoded = Double((plan.head + plan.tail).count * 10)
            #expect(encoded <= Double(end - start) * SmartPlan.largestShare + 20)
            heads += plan.head.isEmpty ? 0 : 1
            tails += plan.tail.isEmpty ? 0 : 1
        }
        #expect(heads > 100)
        #expect(tails > 20)
    }
}
