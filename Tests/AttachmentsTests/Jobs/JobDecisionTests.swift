import TestSupport
import Testing

@testable import Attachments

@Suite struct WorkStateTests {
    @Test(arguments: WorkState.allCases.filter(\.isFinished), WorkState.allCases)
    func `no transition leads out of a finished state`(from: WorkState, to: WorkState) {
        #expect(!from.canBecome(to))
    }

    @Test(arguments: WorkState.allCases)
    func `every state is reached from pending`(state: WorkState) {
        var reached: Set<WorkState> = [.pending]
        var before = 0
        while before != reached.count {
            before = reached.count
            for next in WorkState.allCases where reached.contains(where: { $0.canBecome(next) }) {
                reached.insert(next)
            }
        }
        #expect(reached.contains(state))
    }

    @Test func `an interrupted job is pending again, and nothing is delivered without having run`() {
        #expect(WorkState.running.canBecome(.pending))
        #expect(!WorkState.pending.canBecome(.delivered))
    }
}

@Suite struct BackoffTests {
    private static let errors: [AttachmentError] = [
        .fetchFailed(reason: "reset", status: nil), .fetchFailed(reason: "Not Found", status: 404),
        .fetchFailed(reason: "Too Many Requests", status: 429), .fetchTimeout(seconds: 1), .storeFailed(reason: "io"),
        .storeFull,
        .codecCrashed(reason: "signal 11"), .corrupt(reason: "it ends"), .unrecognizedType(sniffed: nil),
        .deadlineExceeded(seconds: 3), .tooManyFrames(frames: 901, limit: 900),
        .blockedAddress(host: "a", address: "127.0.0.1"),
    ]

    @Test(arguments: errors)
    func `waits stay under their bound, and end`(error: AttachmentError) {
        var random = SeededGenerator(seed: 7)
        let backoff = Backoff(base: .milliseconds(100), limit: .seconds(2), attempts: 6)
        for _ in 0..<200 {
            var attempt = 1
            while let wait = backoff.wait(after: attempt, error: error, using: &random) {
                let bound = min(Duration.milliseconds(100 << (attempt - 1)), .seconds(2))
                #expect(wait >= .zero && wait <= bound)
                attempt += 1
            }
            #expect(attempt == (error.isRetryable ? (error.code == .codecCrashed ? 2 : 6) : 1))
        }
    }

    @Test func `waits differ, so that many that failed together don't come back together`() {
        var random = SeededGenerator(seed: 11)
        let waits = (0..<100).compactMap { _ in
            Backoff().wait(after: 2, error: .fetchTimeout(seconds: 1), using: &random)
        }
        #expect(Set(waits).count > 50)
    }
}

@Suite struct JobOutcomeTests {
    @Test(arguments: 0..<200)
    func `lenient delivers with one, strict only with all`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let results = (0..<Int.random(in: 1...10, using: &random)).map { _ in Bool.random(using: &random) }
        let outcomes = results.map(outcome)
        #expect(JobOutcome.state(of: outcomes, mode: .lenient) == (results.contains(true) ? .delivered : .failed))
        #expect(JobOutcome.state(of: outcomes, mode: .strict) == (results.contains(false) ? .failed : .delivered))
    }

    @Test(arguments: JobMode.allCases)
    func `nothing is not delivered`(mode: JobMode) {
        #expect(JobOutcome.state(of: [], mode: mode) == .failed)
    }

    private func outcome(delivered: Bool) -> AttachmentOutcome {
        let result = AttachmentResult(
            fidelity: .full, best: .main, renditions: [:], options: DisplayOptions(), trim: nil, placeholder: nil,
            contentSizeRatio: nil)
        return AttachmentOutcome(
            id: .generate(), result: delivered ? .success(result) : .failure(.storeFull), kind: nil,
            source: SourceFacts(), steps: [])
    }
}

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

@Suite struct IdleOptionTests {
    private static let profile = Profile.notification

    private static func idle(
        _ request: RenditionRequest, _ kind: MediaKind, _ planned: [RenditionRole] = [.thumbnail, .main]
    ) -> [String] {
        request.idleOptions(for: kind, planned: planned, under: profile).map(\.name.rawValue)
    }

    @Test func `each option is told to be passed over just where it changes nothing`() {
        let trim = RenditionRequest(trim: TrimRequest(start: 1, duration: 2))
        let time = RenditionRequest(thumbnailTime: 1)
        let frame = RenditionRequest(thumbnailFrame: 3)
        let clip = RenditionRequest(thumbnailClippingRect: UnitRect(x: 0, y: 0, width: 1, height: 0.5))
        let rect = RenditionRequest(crop: .rect(UnitRect(x: 0, y: 0, width: 1, height: 0.5)))
        let applies: [(RenditionRequest, Set<MediaKind>)] = [
            (trim, [.animation, .audio, .video]), (time, [.video]), (frame, [.animation]),
            (clip, [.image, .animation, .video]),
            (rect, [.image, .animation, .video]),
        ]
        for (request, kinds) in applies {
            for kind in MediaKind.allCases {
                let planned: [RenditionRole] = kind == .audio ? [.waveform, .main] : [.thumbnail, .main]
                let idle = Self.idle(request, kind, planned)
                #expect(idle.count == (kinds.contains(kind) ? 0 : 1), "\(kind): \(request): \(idle)")
            }
        }
    }

    @Test func `a crop is of use where there is a picture, and a look where there is another shape`() {
        var profile = Self.profile
        let look = RenditionRequest(crop: .attention)
        #expect(Self.idle(look, .audio, [.main]) == ["crop"] && Self.idle(look, .audio, [.thumbnail, .main]) == [])
        #expect(Self.idle(look, .video, [.main]) == ["crop"])
        profile.thumbnail?.fit = .inside
        profile.image?.fit = .inside
        func idle(_ request: RenditionRequest) -> Int {
            request.idleOptions(for: .image, planned: [.thumbnail, .main], under: profile).count
        }
        #expect(idle(look) == 1)
        profile.image?.fit = .crop
        #expect(idle(look) == 0)
    }

    @Test func `a payload's moment, asked for in both ways, is passed over once or not at all`() {
        let both = RenditionRequest(thumbnailTime: 3, thumbnailFrame: 3)
        #expect(Self.idle(both, .video) == [] && Self.idle(both, .animation) == [])
        #expect(Self.idle(both, .image) == ["thumbnail_time"] && Self.idle(both, .audio) == ["thumbnail_time"])
        // A trim around it needs it.
        let around = RenditionRequest(trim: TrimRequest(start: nil, duration: 1), thumbnailTime: 3)
        #expect(Self.idle(around, .audio) == [] && Self.idle(around, .animation) == [])
        #expect(Self.idle(around, .image) == ["trim", "thumbnail_time"])
    }

    @Test func `the step names every option, in at most 200 characters`() throws {
        let all = RenditionRequest(
            trim: TrimRequest(start: 1), crop: .centre, thumbnailTime: 1,
            thumbnailClippingRect: UnitRect(x: 0, y: 0, width: 1, height: 1))
        for kind in MediaKind.allCases {
            let idle = all.idleOptions(for: kind, planned: [.main], under: Self.profile)
            guard let step = Step(idle) else { continue }
            let note = try #require(step.note)
            #expect(step.name == "options" && note.count <= 200 && !note.hasSuffix("."), "\(note.count): \(note)")
            for option in idle { #expect(note.contains(option.name.rawValue)) }
        }
        #expect(Step([]) == nil)
    }
}
