public import Foundation

extension SatchelClient {
    /// Submits a job and returns its state, which is final if the job finishes within `seconds`.
    ///
    /// If the connection breaks, the retry does not create a second job, because the submission carries an idempotency key.
    ///
    /// - Parameters:
    ///   - request: The sources and how to prepare them.
    ///   - idempotencyKey: A key of your own, if you may repeat the call yourself. It is remembered for 24 hours.
    ///   - seconds: How long to wait for the job to finish.
    public func submit(
        _ request: JobRequest, idempotencyKey: String? = nil, waitingUpTo seconds: TimeInterval = 0
    ) async throws -> Job {
        var call = Call("POST", "v1", "jobs", isRepeatable: true)
        call.headers["Idempotency-Key"] = idempotencyKey ?? UUID().uuidString
        return try await submit(request, by: call, waitingUpTo: seconds)
    }

    /// Submits a job under an id of yours. Submitting the same request again returns the same job; another request replaces it.
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

    /// Retries a failed or cancelled job.
    ///
    /// - Throws: `sources_gone` if its sources are no longer stored.
    @discardableResult
    public func retry(_ job: String) async throws -> Job {
        try await transport.send(Call("POST", "v1", "jobs", job, "retry")).decode(Job.self)
    }

    /// Repeats the callback of a finished job.
    public func replayCallback(of job: String) async throws {
        _ = try await transport.send(Call("POST", "v1", "jobs", job, "callback"))
    }
}
