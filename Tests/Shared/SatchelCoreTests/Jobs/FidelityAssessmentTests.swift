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
        let losses = made.filter { _ in Bool.random(using: &random) }.map { Finding(.pace, $0) }
        let assessment = FidelityAssessment(
            planned: planned, made: Set(made), keptOriginal: Bool.random(using: &random),
            diagnosis: Diagnosis(losses: losses))
        #expect((assessment.fidelity == nil) == (assessment.best == nil))
        #expect((assessment.fidelity == nil) == (made.isEmpty && !assessment.keptOriginal))
        switch assessment.fidelity {
        case .full: #expect(made == planned && losses.isEmpty && assessment.best == .main)
        case .reduced: #expect(assessment.best == .main && made.contains(.main))
        case .partial: #expect(!made.contains(.main) && made.contains { $0 == assessment.best })
        case .original: #expect(made.isEmpty && assessment.best == .original)
        case nil: break
        }
    }

    @Test(arguments: 0..<300)
    func `with a loss nothing is full, and the reason says what is missing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let losses = (0..<Int.random(in: 1...5, using: &random)).map {
            let name = String(repeating: "packets, ", count: Int.random(in: 1...20, using: &random))
            return Finding(.malformed, .frames, missing: $0 + 1, of: 900, named: name)
        }
        let assessment = FidelityAssessment(
            planned: [.main], made: [.main], keptOriginal: false, diagnosis: Diagnosis(losses: losses))
        #expect(assessment.fidelity == .reduced)
        let reason = try #require(assessment.reason)
        #expect(reason.count <= 200 && reason.hasPrefix("reduced: "))
        #expect(reason.hasPrefix("reduced: 1 of 900 frames: its packets"), "\(reason)")
        if reason.firstMatch(of: /; and [0-9] more$/) == nil, !reason.hasSuffix("…") {
            for loss in losses { #expect(reason.contains(loss.what), "\(reason)") }
        }
    }

    /// Every way in which each rendition can come out.
    private enum Way: CaseIterable {
        case unplanned, full, reduced, estimated, slow, late, damaged, unsaid
    }

    @Test func `nothing less than full is without a reason, which names what fell short and by how much`() throws {
        let roles: [RenditionRole] = [.main, .thumbnail, .poster, .waveform]
        func figures(_ role: RenditionRole) -> Finding { Finding(.estimate, role, missing: 4.12, of: 0.04) }
        var seen: Set<Fidelity?> = []
        for index in 0..<(Way.allCases.count * Way.allCases.count * Way.allCases.count * Way.allCases.count * 2) {
            var assessment = FidelityAssessment(planned: [], made: [], keptOriginal: index.isMultiple(of: 2))
            var rest = index / 2
            for role in roles {
                let way = Way.allCases[rest % Way.allCases.count]
                rest /= Way.allCases.count
                if way != .unplanned { assessment.planned.append(role) }
                switch way {
                case .unplanned, .unsaid: break
                case .full: assessment.made.insert(role)
                case .reduced:
                    assessment.made.insert(role)
                    assessment.diagnosis.losses.append(figures(role))
                case .estimated: assessment.diagnosis.losses.append(figures(role))
                case .slow:
                    assessment.made.insert(role)
                    assessment.diagnosis.losses.append(Finding(.pace, role, missing: 3, of: 1))
                case .late: assessment.diagnosis.losses.append(Finding(.timeUp, role))
                case .damaged: assessment.diagnosis.omissions.append(Finding(.notDecoded, role))
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
            try #require(reason.hasPrefix("\(fidelity.rawValue): ") && reason.count <= 200 && !reason.hasSuffix("."))
            let left = assessment.diagnosis.omissions.map(\.part?.rawValue)
            let lacking = assessment.losses.compactMap(\.part?.rawValue)
            let short = roles.filter {
                let isReduced = assessment.made.contains($0) && lacking.contains($0.rawValue)
                return assessment.planned.contains($0) && (isReduced || !assessment.made.contains($0))
                    && !left.contains($0.rawValue)
            }
            if reason.firstMatch(of: /; and [0-9] more$/) == nil {
                for role in short { try #require(reason.contains(role.rawValue), "\(assessment): \(reason)") }
            }
            // What the picture is missed for comes first.
            if short.contains(.main) { try #require(reason.hasPrefix("\(fidelity.rawValue): main"), "\(reason)") }
            if short.first == .main, assessment.diagnosis.losses.contains(figures(.main)) {
                try #require(reason.contains("4.12 s") && reason.contains("0.04 s left"), "\(reason)")
            }
        }
        #expect(seen == [.full, .reduced, .partial, .original, nil])
    }
}
