import TestSupport
import Testing

@testable import SatchelCore

@Suite struct FidelityAssessmentTests {
    @Test(arguments: 0..<500)
    func `what is claimed was made`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let roles: [RenditionRole] = [.main, .thumbnail, .poster, .waveform]
        let planned = roles.filter { _ in Bool.random(using: &random) }
        let made = planned.filter { _ in Bool.random(using: &random) }
        let efforts = made.map { ($0, Bool.random(using: &random) ? Effort.full : .reduced) }
        let assessment = FidelityAssessment(
            planned: planned, made: Dictionary(uniqueKeysWithValues: efforts),
            keptOriginal: Bool.random(using: &random))
        #expect((assessment.fidelity == nil) == (assessment.best == nil))
        #expect((assessment.fidelity == nil) == (made.isEmpty && !assessment.keptOriginal))
        switch assessment.fidelity {
        case .full: #expect(made == planned && assessment.made[.main] == .full && assessment.best == .main)
        case .reduced: #expect(assessment.best == .main && assessment.made[.main] != nil)
        case .partial: #expect(!made.contains(.main) && made.contains { $0 == assessment.best })
        case .original: #expect(made.isEmpty && assessment.best == .original)
        case nil: break
        }
    }

    @Test(arguments: 0..<300)
    func `with a loss nothing is full, and the reason says what is missing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let losses = (0..<Int.random(in: 1...5, using: &random)).map {
            let why = String(repeating: "its packets are damaged, ", count: Int.random(in: 1...12, using: &random))
            return Loss("\($0 + 1) of 900 frames", because: why + "and more")
        }
        let effort: Effort = Bool.random(using: &random) ? .full : .reduced
        let assessment = FidelityAssessment(
            planned: [.main], made: [.main: effort], keptOriginal: false, losses: losses)
        #expect(assessment.fidelity == .reduced)
        let reason = try #require(assessment.reason)
        #expect(reason.count <= 200 && reason.hasPrefix("reduced, as "))
        if effort == .full {
            #expect(reason.hasPrefix("reduced, as it lacks 1 of 900 frames: its packets"), "\(reason)")
        }
        if reason.firstMatch(of: /; and [0-9] more$/) == nil, !reason.hasSuffix("…") {
            for loss in losses { #expect(reason.contains(loss.what), "\(reason)") }
        }
    }

    /// Every way in which each rendition can come out.
    private enum Way: CaseIterable {
        case unplanned, full, reduced, estimated, slow, late, damaged, unsaid, reducedUnsaid
    }

    @Test func `nothing less than full is without a reason, which names what fell short and by how much`() throws {
        let roles: [RenditionRole] = [.main, .thumbnail, .poster, .waveform]
        let figures = Shortfall.estimate(needed: 4.12, left: 0.04)
        var seen: Set<Fidelity?> = []
        for index in 0..<(Way.allCases.count * Way.allCases.count * Way.allCases.count * Way.allCases.count * 2) {
            var assessment = FidelityAssessment(planned: [], made: [:], keptOriginal: index.isMultiple(of: 2))
            var rest = index / 2
            for role in roles {
                let way = Way.allCases[rest % Way.allCases.count]
                rest /= Way.allCases.count
                if way != .unplanned { assessment.planned.append(role) }
                switch way {
                case .unplanned, .unsaid: break
                case .full: assessment.made[role] = .full
                case .reducedUnsaid: assessment.made[role] = .reduced
                case .reduced: (assessment.made[role], assessment.shortfalls[role]) = (.reduced, figures)
                case .estimated: assessment.shortfalls[role] = figures
                case .slow:
                    assessment.made[role] = .reduced
                    assessment.shortfalls[role] = .pace(needed: 3, left: 1)
                case .late: assessment.shortfalls[role] = .timeUp
                case .damaged: assessment.shortfalls[role] = .undecodable
                }
            }
            let fidelity = assessment.fidelity
            seen.insert(fidelity)
            let note = assessment.step?.note
            guard let fidelity, fidelity != .full else {
                try #require(note == nil, "\(assessment): \(note ?? "")")
                continue
            }
            let reason = try #require(note, "\(assessment)")
            try #require(reason.hasPrefix("\(fidelity.rawValue), as ") && reason.count <= 200 && !reason.hasSuffix("."))
            let short = roles.filter { assessment.planned.contains($0) && assessment.made[$0] != .full }
            if reason.firstMatch(of: /; and [0-9] more$/) == nil {
                for role in short { try #require(reason.contains(role.rawValue), "\(assessment): \(reason)") }
            }
            // What the picture is missed for comes first.
            if short.contains(.main) { try #require(reason.hasPrefix("\(fidelity.rawValue), as main"), "\(reason)") }
            if short.first == .main, assessment.shortfalls[.main] == figures {
                try #require(reason.contains("4.1 s") && reason.contains("40 ms left"), "\(reason)")
            }
        }
        #expect(seen == [.full, .reduced, .partial, .original, nil])
    }
}
