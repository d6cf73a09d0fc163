public import Foundation

extension SatchelClient {
    /// Returns a tenant's figures: the last hour, stored and active objects, and open problems.
    public func overview() async throws -> Overview {
        try await transport.send(Call("GET", "v1", "overview")).decode(Overview.self)
    }

    /// Returns current failures by error code, latest first.
    ///
    /// - Parameters:
    ///   - code: The error code; `nil` for all.
    ///   - since: The earliest time of a failure.
    public func failures(code: SatchelError.Code? = nil, since: Date? = nil) async throws -> [FailureGroup] {
        var call = Call("GET", "v1", "failures")
        call.add("code", code?.rawValue)
        call.add("since", since.map(Wire.text))
        return try await transport.send(call).decode(FailureList.self).groups
    }

    /// Retries all jobs that failed with a code.
    ///
    /// - Parameters:
    ///   - code: The error code.
    ///   - since: The earliest time of a failure.
    @discardableResult
    public func retryJobs(failedWith code: SatchelError.Code, since: Date? = nil) async throws -> RetryCounts {
        var counts = RetryCounts(accepted: 0, forgotten: 0)
        var next: String?
        repeat {
            // Arriving twice it finds fewer the second time.
            let call = try Call("POST", "v1", "jobs", "retry", isRepeatable: true).sending(
                RetryBody(code: code, since: since.map(Wire.text), cursor: next))
            let part = try await transport.send(call).decode(RetryCounts.self)
            counts.accepted += part.accepted
            counts.forgotten += part.forgotten
            next = part.next
        } while next != nil
        return counts
    }

    /// Returns the grants, leases and links of an attachment, including ended ones that are not cleaned up yet.
    ///
    /// - Parameters:
    ///   - attachment: The attachment's id.
    ///   - cursor: ``Page/next`` of the previous page.
    ///   - limit: The maximum size of a page; `nil` for the service's default.
    public func access(
        to attachment: String, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<AccessEntry> {
        var call = Call("GET", "v1", "attachments", attachment, "access")
        call.add("cursor", cursor)
        call.add("limit", limit.map(String.init))
        let list = try await transport.send(call).decode(AccessList.self)
        return Page(elements: list.access, next: list.next)
    }

    /// Returns calls to receivers, newest first.
    public func calls(
        state: String? = nil, type: String? = nil, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<OutgoingCall> {
        var call = Call("GET", "v1", "calls")
        call.add("state", state)
        call.add("type", type)
        call.add("cursor", cursor)
        call.add("limit", limit.map(String.init))
        let list = try await transport.send(call).decode(CallList.self)
        return Page(elements: list.calls, next: list.next)
    }

    /// Repeats a call.
    @discardableResult
    public func replay(call id: String) async throws -> OutgoingCall {
        try await transport.send(Call("POST", "v1", "calls", id, "replay")).decode(OutgoingCall.self)
    }
}
