public import SatchelCore
internal import Postgres

extension RecordStore {
    /// A new code, which is shown this once.
    public func newConsoleCode(
        for tenant: TenantID, roles: [AccessRole]
    ) async throws(AttachmentError) -> (ConsoleCode, AccessToken) {
        let token = TokenFormat.newConsoleToken()
        let code = try await write { work in
            let code = ConsoleCode(tenant: tenant, roles: roles, createdAt: work.now)
            let row = ConsoleSession(
                tenant: tenant, roles: roles, key: nil, createdAt: work.now, usedAt: work.now, endsAt: code.expiresAt)
            _ = try work.insert(row, "code", hash: token.hash)
            return code
        }
        return (code, token)
    }

    /// Exchanges a code for a session; nil for an unknown, used or expired one.
    public func signIn(withCode code: AccessToken) async throws(AttachmentError) -> (ConsoleSession, AccessToken)? {
        try await signIn { work in
            let row = try work.run(
                "DELETE FROM console_sessions WHERE hash = $1 AND kind = 'code' RETURNING tenant, roles, created_at",
                [.text(code.hash)]
            ).first
            guard let row else { return nil }
            let code = ConsoleCode(
                tenant: try row.value("tenant"), roles: try row.json("roles"), createdAt: try row.instant("created_at"))
            return code.isLive(at: work.now) ? ConsoleSession(signedInWith: code, at: work.now) : nil
        }
    }

    /// Begins a session of a key; nil where that isn't good any more.
    public func signIn(with key: APIKeyRecord) async throws(AttachmentError) -> (ConsoleSession, AccessToken)? {
        try await signIn { work in
            try work.isGood(key: key.id) ? ConsoleSession(signedInWith: key, at: work.now) : nil
        }
    }

    /// Records a new session.
    ///
    /// - Parameter session: Gives nil where the code or the key is not valid.
    private func signIn(
        _ session: @escaping @Sendable (RecordTransaction) throws -> ConsoleSession?
    ) async throws(AttachmentError) -> (ConsoleSession, AccessToken)? {
        let token = TokenFormat.newConsoleToken()
        let session = try await write { work -> ConsoleSession? in
            // A repetition after a lost answer finds the session, and its code gone.
            if work.mayHaveCommitted, let made = try work.consoleSession(token.hash) { return made }
            guard let session = try session(work) else { return nil }
            if try work.insert(session, hash: token.hash) { work.note(.signedIn(session, hash: token.hash)) }
            return session
        }
        return session.map { ($0, token) }
    }

    /// The session of a cookie, where it and its key are good now.
    ///
    /// - Parameter byPerson: Whether a person acted, and not a page that refreshes itself. Only that keeps the session from
    ///   ending.
    public func consoleSession(
        of token: AccessToken, byPerson: Bool
    ) async throws(AttachmentError) -> ConsoleSession? {
        let found = try await read { work -> (session: ConsoleSession, now: Instant)? in
            guard let session = try work.consoleSession(token.hash), session.isLive(at: work.now) else {
                return nil
            }
            if let key = session.key, try !work.isGood(key: key) { return nil }
            return (session, work.now)
        }
        guard let (session, now) = found, byPerson, session.needsNoting(at: now) else { return found?.session }
        try await write { work in
            _ = try work.run(
                "UPDATE console_sessions SET used_at = greatest(used_at, $2) WHERE hash = $1",
                [.text(token.hash), .time(now)])
        }
        return session
    }

    /// Ends a session. Idempotent.
    public func signOut(_ token: AccessToken) async throws(AttachmentError) {
        try await write { work in
            _ = try work.run(
                "DELETE FROM console_sessions WHERE hash = $1 AND kind = 'session'", [.text(token.hash)])
        }
    }
}

extension RecordTransaction {
    fileprivate func isGood(key: String) throws -> Bool {
        try !run(
            """
            SELECT 1 FROM api_keys WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
            """, [.text(key), .time(now)]
        ).isEmpty
    }

    fileprivate func consoleSession(_ hash: String) throws -> ConsoleSession? {
        try run("SELECT * FROM console_sessions WHERE hash = $1 AND kind = 'session'", [.text(hash)]).first.map {
            ConsoleSession(
                tenant: try $0.value("tenant"),
                roles: try $0.json("roles"),
                key: try $0.optionalText("key"), createdAt: try $0.instant("created_at"),
                usedAt: try $0.instant("used_at"), endsAt: try $0.instant("ends_at"))
        }
    }

    /// - Returns: Whether it is new.
    fileprivate func insert(_ session: ConsoleSession, _ kind: String = "session", hash: String) throws -> Bool {
        try run(
            .insert(
                into: "console_sessions",
                [
                    "hash": .text(hash), "kind": .text(kind), "tenant": .raw(session.tenant),
                    "roles": try .json(session.roles), "key": .text(session.key),
                    "created_at": .time(session.createdAt),
                    "used_at": .time(session.usedAt), "ends_at": .time(session.endsAt),
                ], "ON CONFLICT (hash) DO NOTHING")
        ).changes > 0
    }
}
