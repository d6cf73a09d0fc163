import Foundation

extension SatchelClient {
    /// Returns the events of a job up to its end: stages, progress, and each rendition when it is ready.
    ///
    /// If the connection breaks or the service restarts, the stream resumes after the last event. It fails if the service can't be
    /// reached within ``RetryPolicy``, or if the job is deleted.
    ///
    /// ```swift
    /// for try await event in satchel.follow(job.id) {
    ///     if case .rendition(_, let rendition) = event.what { print(rendition.role, rendition.bytes) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - job: The job's id.
    ///   - id: The ``JobEvent/id`` to resume after.
    public func follow(_ job: String, after id: String? = nil) -> AsyncThrowingStream<JobEvent, any Error> {
        AsyncThrowingStream { continuation in
            let following = Task {
                do {
                    try await follow(job, after: id) { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in following.cancel() }
        }
    }

    /// The service sends a comment every 15 s.
    private static let silence: TimeInterval = 60

    private func follow(_ job: String, after id: String?, _ deliver: (JobEvent) -> Void) async throws {
        var last = id
        var attempt = 0
        var waited: TimeInterval = 0
        while true {
            var call = Call("GET", "v1", "jobs", job, "events")
            call.patience = Self.silence
            call.headers["Accept"] = "text/event-stream"
            call.headers["Last-Event-ID"] = last
            var retryAfter: TimeInterval?
            do {
                var parser = EventParser()
                var refusal: Answer?
                for try await piece in transport.stream(call) {
                    switch piece {
                    case .head(let head):
                        // The end was seen before.
                        if head.status == 204 { return }
                        if head.status != 200 { refusal = head }
                    case .bytes(let bytes) where refusal != nil:
                        // A problem document is much shorter.
                        guard refusal?.body.count ?? 0 < 1 << 16 else { break }
                        refusal?.body.append(bytes)
                    case .bytes(let bytes):
                        (attempt, waited) = (0, 0)
                        for event in parser.consume(bytes) {
                            if let id = event.id { last = id }
                            let event = try JobEvent(event)
                            deliver(event)
                            if case .finished = event.what { return }
                        }
                    }
                }
                if let refusal { throw refusal.error }
            } catch let error as SatchelError {
                guard error.code == .transport || error.status == 429 || error.status == 503 else { throw error }
                retryAfter = error.retryAfter
                if waited >= transport.retries.longestWait { throw error }
            }
            try Task.checkCancellation()
            attempt += 1
            let pause = min(
                transport.retries.pause(after: attempt, retryAfter: retryAfter),
                max(transport.retries.longestWait - waited, 0.1))
            try await Task.sleep(nanoseconds: UInt64(pause * 1e9))
            waited += pause
        }
    }
}
