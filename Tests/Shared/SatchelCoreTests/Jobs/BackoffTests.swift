import TestSupport
import Testing

@testable import SatchelCore

@Suite struct BackoffTests {
    private static let errors: [AttachmentError] = [
        .fetchFailed(.reset, reason: "reset"), .fetchFailed(.status, status: 404, reason: "Not Found"),
        .fetchFailed(.status, status: 429, reason: "Too Many Requests"), .fetchTimeout(seconds: 1),
        .storeFailed(reason: "io"),
        .storeFull,
        .codecCrashed(reason: "signal 11"), .unreadable(Finding(.checksumDiffers)), .unrecognizedType(sniffed: nil),
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
