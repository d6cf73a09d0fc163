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

@Suite struct AchievementTests {
    @Test(arguments: 0..<500)
    func `what is claimed was made`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let roles: [RenditionRole] = [.main, .thumbnail, .poster, .waveform]
        let planned = roles.filter { _ in Bool.random(using: &random) }
        let made = planned.filter { _ in Bool.random(using: &random) }
        let efforts = made.map { ($0, Bool.random(using: &random) ? Effort.full : .reduced) }
        let achievement = Achievement(
            planned: planned, made: Dictionary(uniqueKeysWithValues: efforts),
            keptOriginal: Bool.random(using: &random))
        #expect((achievement.fidelity == nil) == (achievement.best == nil))
        #expect((achievement.fidelity == nil) == (made.isEmpty && !achievement.keptOriginal))
        switch achievement.fidelity {
        case .full: #expect(made == planned && achievement.made[.main] == .full && achievement.best == .main)
        case .reduced: #expect(achievement.best == .main && achievement.made[.main] != nil)
        case .partial: #expect(!made.contains(.main) && made.contains { $0 == achievement.best })
        case .original: #expect(made.isEmpty && achievement.best == .original)
        case nil: break
        }
    }
}
