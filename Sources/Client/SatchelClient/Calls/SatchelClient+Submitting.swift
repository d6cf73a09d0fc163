public import Foundation

extension SatchelClient {
    /// Submits a job. Its answer is the job as it is: finished where that came within `seconds`.
    ///
    /// A connection that breaks doesn't make two jobs of one: the submission carries a key that tells the service that it
    /// has seen it.
    ///
    /// - Parameters:
    ///   - request: What is to be prepared, and how.
    ///   - idempotencyKey: Your own key, where you may repeat the call yourself; good for 24 hours.
    ///   - seconds: How long to wait for the end.
    public func submit(
        _ request: JobRequest, idempotencyKey: String? = nil, waitingUpTo seconds: TimeInterval = 0
    ) async throws -> Job {
        var call = Call("POST", "v1", "jobs", isRepeatable: true)
        call.headers["Idempotency-Key"] = idempotencyKey ?? UUID().uuidString
        return try await submit(request, by: call, waitingUpTo: seconds)
    }

    /// Submits a job under an id of yours: the same again is the same job, another one replaces it.
    public func put(
        _ request: JobRequest, id: String, waitingUpTo seconds: TimeInterval = 0
    ) async throws -> Job {
        try await submit(request, by: Call("PUT", "v1", "jobs", id), waitingUpTo: seconds)
    }

    private func submit(
        _ request: JobRequest, by call: Call, waitingUpTo seconds: TimeInterval
    ) async throws -> Job {
        var call = call
        if seconds > 0 {
            call.headers["Prefer"] = "wait=\(Int(seconds.rounded(.up)))"
            call.patience += seconds
        }
        let body = JobBody(request)
        let isUpload = request.sources.contains { source in
            switch source.bytes {
            case .url, .upload: false
            case .data, .file: true
            }
        }
        guard isUpload else {
            return try await transport.send(call.sending(body)).decode(Job.self)
        }
        let file = try MultipartFile()
        defer { file.remove() }
        try file.add("job", type: "application/json", Wire.encode(body))
        for (index, source) in request.sources.enumerated() {
            let part = JobBody.part(index)
            switch source.bytes {
            case .url, .upload: break
            case .data(let data): try file.add(part, fileName: source.name ?? part, data)
            case .file(let url): try file.add(part, fileName: source.name ?? part, contentsOf: url)
            }
        }
        try file.close()
        call.body = .file(file.url, type: file.contentType)
        return try await transport.send(call).decode(Job.self)
    }

    /// Tries a failed or cancelled job again.
    ///
    /// - Throws: `sources_gone` where its sources are no longer kept.
    @discardableResult
    public func retry(_ job: String) async throws -> Job {
        try await transport.send(Call("POST", "v1", "jobs", job, "retry")).decode(Job.self)
    }

    /// Has the callback of a finished job called again.
    public func replayCallback(of job: String) async throws {
        _ = try await transport.send(Call("POST", "v1", "jobs", job, "callback"))
    }
}
