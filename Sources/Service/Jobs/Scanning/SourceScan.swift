import SatchelCore
import Ingest
import Platform

/// A scan of one source, underway beside its codec.
struct SourceScan: Sendable {
    typealias Outcome = Result<ScanVerdict, ScanFailure>

    /// What a scanner's reading came to.
    struct End: Sendable {
        fileprivate var outcome: Outcome
        fileprivate var bytes: Int64
        fileprivate var seconds: Double
    }

    /// Gives a source to the scanner, and waits for what it says.
    typealias Reading = @Sendable (ScannedSource) async -> End

    private let task: Task<End, Never>

    /// Begins it.
    ///
    /// - Parameters:
    ///   - end: When there is no time for it any more, whatever the scanner's own limit.
    ///   - opening: Makes the source readable, has it read, and returns what came of that. The scanner's time begins when
    ///     it is read.
    init(
        by scanning: Scanning, until end: ContinuousClock.Instant?,
        opening: @escaping @Sendable (_ read: Reading) async throws(AttachmentError) -> End
    ) {
        task = Task {
            let done: End
            do throws(AttachmentError) {
                done = try await opening { source in await Self.reading(of: source, by: scanning, until: end) }
            } catch {
                let failure = ScanFailure("it could not receive the source (\(error.code.rawValue))")
                done = End(outcome: .failure(failure), bytes: 0, seconds: 0)
            }
            if !Task.isCancelled {
                JobMetrics.count("scans_total", [("verdict", done.outcome.name)])
                JobMetrics.time("scan_seconds", done.seconds)
            }
            return done
        }
    }

    private static func reading(
        of source: ScannedSource, by scanning: Scanning, until end: ContinuousClock.Instant?
    ) async -> End {
        let start = ContinuousClock.now
        let limit = min(start + scanning.timeout, end ?? start + scanning.timeout)
        let outcome = await outcome(on: source, by: scanning, until: limit)
        return End(outcome: outcome, bytes: source.bytes, seconds: (ContinuousClock.now - start).inSeconds)
    }

    private static func outcome(
        on source: ScannedSource, by scanning: Scanning, until limit: ContinuousClock.Instant
    ) async -> Outcome {
        await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                do throws(ScanFailure) {
                    return .success(try await scanning.scanner.verdict(on: source))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(until: limit, clock: .continuous)
                return nil
            }
            defer { group.cancelAll() }
            let first = await group.next() ?? nil
            return first ?? .failure(ScanFailure("it did not answer in time"))
        }
    }

    /// What came of it, and how long it was waited for: beside the codec's work it costs no time.
    struct Finished: Sendable {
        var outcome: Outcome
        var bytes: Int64
        var seconds: Double
        var waited: Double

        var isRejection: Bool {
            if case .success(.rejected) = outcome { true } else { false }
        }

        /// Why the source isn't delivered; nil where it is.
        func refusal(under mode: ScanFailureMode) -> AttachmentError? {
            switch (outcome, mode) {
            case (.success(.clean), _), (.failure, .open): nil
            case (.success(.rejected(let reason)), _): .rejectedByScan(reason: reason)
            case (.failure(let failure), .closed): .scanFailed(reason: failure.reason)
            }
        }

        /// What the record says of what is delivered.
        var step: Step {
            switch outcome {
            case .success:
                Step(
                    name: Step.scan, seconds: waited,
                    note: "clean, by the scanner: \(bytes) bytes in \(Int((seconds * 1000).rounded())) ms")
            case .failure(let failure):
                Step(
                    name: Step.unscanned, seconds: waited,
                    note: "the scanner gave no verdict: \(failure.reason); delivered all the same (scan.failure: open)")
            }
        }
    }

    /// Waits for it.
    func finished() async -> Finished {
        let start = ContinuousClock.now
        let end = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return Finished(
            outcome: end.outcome, bytes: end.bytes, seconds: end.seconds,
            waited: (ContinuousClock.now - start).inSeconds)
    }

    func cancel() {
        task.cancel()
    }
}

extension SourceScan.Outcome {
    /// As metrics call it.
    fileprivate var name: String {
        switch self {
        case .success(.clean): "clean"
        case .success(.rejected): "rejected"
        case .failure: "failed"
        }
    }
}

extension Step {
    static let scan = "scan"
    /// It was delivered without a verdict.
    static let unscanned = "unscanned"
}
