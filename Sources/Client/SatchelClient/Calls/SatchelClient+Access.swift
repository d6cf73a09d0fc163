public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension SatchelClient {
    /// Starts access. Call ``stopLease(_:)`` when you are done, or use ``withAccess(to:rendition:lasting:_:)``, which does both.
    ///
    /// - Parameters:
    ///   - attachment: The attachment's id; may be `nil` for a client with a grant.
    ///   - seconds: How long the lease lasts unless it is renewed; `nil` for 300.
    ///   - renditions: The renditions to open; `nil` for all.
    public func startLease(
        on attachment: String?, lasting seconds: TimeInterval? = nil, renditions: [RenditionRole]? = nil
    ) async throws -> Lease {
        let call = try Call("POST", "v1", "leases").sending(
            LeaseBody(attachmentID: attachment, ttl: seconds, renditions: renditions))
        return try await transport.send(call).decode(Lease.self)
    }

    /// Returns an active lease.
    public func lease(_ id: String) async throws -> Lease {
        try await transport.send(Call("GET", "v1", "leases", id)).decode(Lease.self)
    }

    /// Extends an active lease to `seconds` from now.
    @discardableResult
    public func renewLease(_ id: String, lasting seconds: TimeInterval? = nil) async throws -> Lease {
        let call = try Call("PUT", "v1", "leases", id).sending(LeaseBody(ttl: seconds))
        return try await transport.send(call).decode(Lease.self)
    }

    /// Stops access. No read starts afterwards. Stopping an ended lease has no effect.
    public func stopLease(_ id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "leases", id))
    }

    /// Opens an attachment while `body` runs. The lease is renewed as needed, and stopped at the end, even if `body` throws or the
    /// task is cancelled.
    ///
    /// ```swift
    /// let data = try await satchel.withAccess(to: attachment.id) { url in
    ///     try await URLSession.shared.data(from: url).0
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - attachment: The attachment's id; may be `nil` for a client with a grant.
    ///   - rendition: The rendition whose URL `body` receives; `nil` for the one to show.
    ///   - seconds: How long the lease lasts if this process dies.
    ///   - body: Receives the URL, which works until `body` returns. For an encrypted rendition it returns ciphertext; use
    ///     ``download(_:rendition:to:)`` to decrypt.
    public func withAccess<Value>(
        to attachment: String?, rendition: RenditionRole? = nil, lasting seconds: TimeInterval = 300,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        try await withRendition(rendition, of: attachment, lasting: seconds) { try await body($0.url) }
    }

    /// Downloads a rendition to a file and decrypts it if it is encrypted. The lease is stopped afterwards.
    ///
    /// - Parameters:
    ///   - attachment: The attachment's id; may be `nil` for a client with a grant.
    ///   - rendition: The rendition; `nil` for the one to show.
    ///   - file: The file to write. An existing file is replaced. If the call throws, the file does not exist.
    /// - Returns: The downloaded rendition.
    /// - Throws: ``SatchelError``, with the code ``SatchelError/Code/decryptionFailed`` if the file can't be decrypted.
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

    /// Stops a lease even if the task is cancelled. If the service can't be reached, the lease expires.
    private func stop(_ lease: Lease) async {
        _ = await Task { try await stopLease(lease.id) }.result
    }

    /// Creates a grant, the right to start leases on an attachment.
    ///
    /// - Parameters:
    ///   - attachment: The attachment's id.
    ///   - seconds: How long the grant lasts; `nil` for 3600.
    ///   - renditions: The renditions that its leases may open; `nil` for all.
    ///   - leaseLimit: The maximum number of active leases.
    public func giveGrant(
        on attachment: String, lasting seconds: TimeInterval? = nil, renditions: [RenditionRole]? = nil,
        leaseLimit: Int? = nil
    ) async throws -> Grant {
        let call = try Call("POST", "v1", "attachments", attachment, "grants").sending(
            GrantBody(ttl: seconds, renditions: renditions, leaseLimit: leaseLimit))
        return try await transport.send(call).decode(Grant.self)
    }

    /// Derives a grant, which can't give more access than its parent.
    public func narrowGrant(
        _ grant: String, lasting seconds: TimeInterval? = nil, renditions: [RenditionRole]? = nil,
        leaseLimit: Int? = nil
    ) async throws -> Grant {
        let call = try Call("POST", "v1", "grants", grant, "grants").sending(
            GrantBody(ttl: seconds, renditions: renditions, leaseLimit: leaseLimit))
        return try await transport.send(call).decode(Grant.self)
    }

    /// Revokes a grant, and every grant and lease derived from it.
    public func revokeGrant(_ id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "grants", id))
    }
}
