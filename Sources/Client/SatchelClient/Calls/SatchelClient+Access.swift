public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension SatchelClient {
    /// Starts access. Whoever starts must stop; ``withAccess(to:rendition:lasting:_:)`` does both.
    ///
    /// - Parameters:
    ///   - attachment: May be nil for a client that was made from a grant.
    ///   - seconds: How long it lasts unless it is renewed; 300 where nil.
    ///   - renditions: What it opens; everything where nil.
    public func startLease(
        on attachment: String?, lasting seconds: TimeInterval? = nil, renditions: [RenditionRole]? = nil
    ) async throws -> Lease {
        let call = try Call("POST", "v1", "leases").sending(
            LeaseBody(attachmentID: attachment, ttl: seconds, renditions: renditions))
        return try await transport.send(call).decode(Lease.self)
    }

    /// A lease that lives.
    public func lease(_ id: String) async throws -> Lease {
        try await transport.send(Call("GET", "v1", "leases", id)).decode(Lease.self)
    }

    /// Moves a live lease's end to `seconds` from now.
    @discardableResult
    public func renewLease(_ id: String, lasting seconds: TimeInterval? = nil) async throws -> Lease {
        let call = try Call("PUT", "v1", "leases", id).sending(LeaseBody(ttl: seconds))
        return try await transport.send(call).decode(Lease.self)
    }

    /// Stops access; no read starts afterwards. Stopping what has ended does nothing.
    public func stopLease(_ id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "leases", id))
    }

    /// Opens an attachment for as long as `body` runs: starts a lease, renews it while needed, and stops it whatever
    /// happens, also where `body` throws or its task is cancelled.
    ///
    /// ```swift
    /// let data = try await satchel.withAccess(to: attachment.id) { url in
    ///     try await URLSession.shared.data(from: url).0
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - attachment: May be nil for a client that was made from a grant.
    ///   - rendition: The one whose URL `body` gets; the one to show where nil.
    ///   - seconds: How long the lease outlives this process, should it die.
    ///   - body: Gets the URL, which ends with it. Of what is encrypted it reads ciphertext: ``download(_:rendition:to:)``
    ///     decrypts.
    public func withAccess<Value>(
        to attachment: String?, rendition: RenditionRole? = nil, lasting seconds: TimeInterval = 300,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        try await withRendition(rendition, of: attachment, lasting: seconds) { try await body($0.url) }
    }

    /// Fetches a rendition into a file, by a lease that ends with it. What is kept encrypted is decrypted.
    ///
    /// - Parameters:
    ///   - attachment: May be nil for a client that was made from a grant.
    ///   - rendition: The one to show where nil.
    ///   - file: A file that is there is replaced. Where this throws none is left of it.
    /// - Returns: What was fetched.
    /// - Throws: ``SatchelError``; with the code ``SatchelError/Code/decryptionFailed`` where it can't be opened.
    @discardableResult
    public func download(
        _ attachment: String?, rendition: RenditionRole? = nil, to file: URL
    ) async throws -> OpenRendition {
        try await withRendition(rendition, of: attachment, lasting: 300) { rendition in
            let session = URLSession(configuration: .ephemeral)
            defer { session.finishTasksAndInvalidate() }
            let fetched = file.deletingLastPathComponent()
                .appendingPathComponent(".\(UUID().uuidString).\(file.lastPathComponent)")
            guard await Download(URLRequest(url: rendition.url), to: fetched).run(by: session) != nil else {
                try Task.checkCancellation()
                throw SatchelError(
                    code: .transport, detail: "The rendition could not be fetched into the file. Try again.")
            }
            defer { try? FileManager.default.removeItem(at: fetched) }
            if let encryption = rendition.encryption {
                try encryption.decrypt(fetched, to: file)
            } else {
                try? FileManager.default.removeItem(at: file)
                try FileManager.default.moveItem(at: fetched, to: file)
            }
            return rendition
        }
    }

    private func withRendition<Value>(
        _ role: RenditionRole?, of attachment: String?, lasting seconds: TimeInterval,
        _ body: (OpenRendition) async throws -> Value
    ) async throws -> Value {
        // A start whose answer is not waited for would never be stopped: a cancellation waits for it.
        let lease = try await Task {
            try await startLease(on: attachment, lasting: seconds, renditions: role.map { [$0] })
        }.value
        let renewal = Task {
            while true {
                try await Task.sleep(nanoseconds: UInt64(max(seconds, 1) * 0.6 * 1e9))
                try await renewLease(lease.id, lasting: seconds)
            }
        }
        do {
            try Task.checkCancellation()
            guard let rendition = lease.rendition(role) else {
                throw SatchelError(code: .notFound, detail: "The attachment has no such rendition.")
            }
            let value = try await body(rendition)
            renewal.cancel()
            await stop(lease)
            return value
        } catch {
            renewal.cancel()
            await stop(lease)
            throw error
        }
    }

    /// Stops a lease even where the task is cancelled. Where the service can't be reached the lease ends by itself.
    private func stop(_ lease: Lease) async {
        _ = await Task { try await stopLease(lease.id) }.result
    }

    /// Gives a right to start leases on an attachment.
    ///
    /// - Parameters:
    ///   - attachment: Its id.
    ///   - seconds: How long it lasts; 3600 where nil.
    ///   - renditions: What its leases may open; everything where nil.
    ///   - leaseLimit: Live leases at most.
    public func giveGrant(
        on attachment: String, lasting seconds: TimeInterval? = nil, renditions: [RenditionRole]? = nil,
        leaseLimit: Int? = nil
    ) async throws -> Grant {
        let call = try Call("POST", "v1", "attachments", attachment, "grants").sending(
            GrantBody(ttl: seconds, renditions: renditions, leaseLimit: leaseLimit))
        return try await transport.send(call).decode(Grant.self)
    }

    /// Derives a grant that is never wider than its parent.
    public func narrowGrant(
        _ grant: String, lasting seconds: TimeInterval? = nil, renditions: [RenditionRole]? = nil,
        leaseLimit: Int? = nil
    ) async throws -> Grant {
        let call = try Call("POST", "v1", "grants", grant, "grants").sending(
            GrantBody(ttl: seconds, renditions: renditions, leaseLimit: leaseLimit))
        return try await transport.send(call).decode(Grant.self)
    }

    /// Takes a grant back, with every grant and lease that came of it.
    public func revokeGrant(_ id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "grants", id))
    }
}
