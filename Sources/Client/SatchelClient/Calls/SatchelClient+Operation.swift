public import Foundation

extension SatchelClient {
    /// A tenant's figures: the last hour, what is kept and lives, what needs a hand.
    public func overview() async throws -> Overview {
        try await transport.send(Call("GET", "v1", "overview")).decode(Overview.self)
    }

    /// What failed and is still there, by code, the latest first.
    ///
    /// - Parameters:
    ///   - code: Only with this one; all where nil.
    ///   - since: Failed then or later.
    public func failures(code: SatchelError.Code? = nil, since: Date? = nil) async throws -> [FailureGroup] {
        var call = Call("GET", "v1", "failures")
        call.add("code", code?.rawValue)
        call.add("since", since.map(Wire.text))
        return try await transport.send(call).decode(FailureList.self).groups
    }

    /// Tries all jobs again that failed with a code.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - since: Failed then or later.
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

    /// Grants, leases and links of an attachment, those that have ended too until they are swept.
    ///
    /// - Parameters:
    ///   - attachment: Its id.
    ///   - cursor: The page before's ``Page/next``.
    ///   - limit: Of a page; the service's own where nil.
    public func access(
        to attachment: String, after cursor: String? = nil, limit: Int? = nil
    ) async throws -> Page<AccessEntry> {
        var call = Call("GET", "v1", "attachments", attachment, "access")
        call.add("cursor", cursor)
        call.add("limit", limit.map(String.init))
        let list = try await transport.send(call).decode(AccessList.self)
        return Page(elements: list.access, next: list.next)
    }

    /// Calls to receivers, newest first.
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

    /// Has a call made again.
    @discardableResult
    public func replay(call id: String) async throws -> OutgoingCall {
        try await transport.send(Call("POST", "v1", "calls", id, "replay")).decode(OutgoingCall.self)
    }
}
