public import Foundation

extension SatchelClient {
    /// The maximum time that the service waits before it responds, in seconds.
    private static let longestWait: TimeInterval = 60

    /// Waits until a job is finished.
    ///
    /// - Parameters:
    ///   - job: The job's id.
    ///   - timeout: The timeout in seconds; `nil` for none.
    /// - Throws: ``SatchelError/Code/timedOut`` if the job has not finished by then. The job continues.
    public func wait(for job: String, timeout: TimeInterval? = nil) async throws -> Job {
        let end = timeout.map { Date(timeIntervalSinceNow: $0) }
        while true {
            let left = end?.timeIntervalSinceNow ?? Self.longestWait
            let patience = min(max(left, 0), Self.longestWait)
            var call = Call("GET", "v1", "jobs", job)
            call.headers["Prefer"] = "wait=\(Int(patience.rounded(.up)))"
            call.patience += patience
            let answer = try await transport.send(call).decode(Job.self)
            if answer.state.isFinished { return answer }
            if let end, end.timeIntervalSinceNow <= 0 {
                throw SatchelError(
                    code: .timedOut, detail: "The job '\(job)' is still \(answer.state.rawValue). Wait again.")
            }
        }
    }
}
