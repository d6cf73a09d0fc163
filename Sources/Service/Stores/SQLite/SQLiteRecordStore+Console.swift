public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func newConsoleCode(
        for tenant: TenantID, roles: [AccessRole]
    ) async throws(AttachmentError) -> (ConsoleCode, AccessToken) {
        let token = TokenFormat.newConsoleToken()
        let code = try await write { database, now in
            let code = ConsoleCode(tenant: tenant, roles: roles, createdAt: now)
            try database.run(
                """
                INSERT INTO console_sessions (hash, kind, tenant, roles, created_at, used_at, ends_at)
                VALUES (?, 'code', ?, ?, ?, ?, ?)
                """,
                [
                    token.hash, tenant.rawValue, Column.text(roles), now.milliseconds, now.milliseconds,
                    code.expiresAt.milliseconds,
                ])
            return code
        }
        return (code, token)
    }

    public func signIn(withCode code: AccessToken) async throws(AttachmentError) -> (ConsoleSession, AccessToken)? {
        let token = TokenFormat.newConsoleToken()
        let session = try await write { database, now -> ConsoleSession? in
            let row = try database.row("SELECT * FROM console_sessions WHERE hash = ? AND kind = 'code'", [code.hash])
            try database.run("DELETE FROM console_sessions WHERE hash = ? AND kind = 'code'", [code.hash])
            guard let row else { return nil }
            let code = ConsoleCode(
                tenant: TenantID(rawValue: row["tenant"]),
                roles: try Column.value([AccessRole].self, from: row["roles"]),
                createdAt: Instant(milliseconds: row["created_at"]))
            guard code.isLive(at: now) else { return nil }
            let session = ConsoleSession(signedInWith: code, at: now)
            try database.insert(session, hash: token.hash)
            try database.note(.signedIn(session, hash: token.hash), at: now)
            return session
        }
        return session.map { ($0, token) }
    }

    public func signIn(with key: APIKeyRecord) async throws(AttachmentError) -> (ConsoleSession, AccessToken)? {
        let token = TokenFormat.newConsoleToken()
        let session = try await write { database, now -> ConsoleSession? in
            guard try database.isGood(key: key.id, at: now) else { return nil }
            let session = ConsoleSession(signedInWith: key, at: now)
            try database.insert(session, hash: token.hash)
            try database.note(.signedIn(session, hash: token.hash), at: now)
            return session
        }
        return session.map { ($0, token) }
    }

    public func consoleSession(
        of token: AccessToken, byPerson: Bool
    ) async throws(AttachmentError) -> ConsoleSession? {
        let found = try await read { database, now -> (session: ConsoleSession, now: Instant)? in
            guard
                let session = try database.row(
                    "SELECT * FROM console_sessions WHERE hash = ? AND kind = 'session'", [token.hash]
                ).map(ConsoleSession.init), session.isLive(at: now)
            else { return nil }
            if let key = session.key, try !database.isGood(key: key, at: now) { return nil }
            return (session, now)
        }
        guard let (session, now) = found, byPerson, session.needsNoting(at: now) else { return found?.session }
        try await write { database, _ in
            try database.run(
                "UPDATE console_sessions SET used_at = max(used_at, ?) WHERE hash = ?", [now.milliseconds, token.hash])
        }
        return session
    }

    public func signOut(_ token: AccessToken) async throws(AttachmentError) {
        try await write { database, _ in
            try database.run("DELETE FROM console_sessions WHERE hash = ? AND kind = 'session'", [token.hash])
        }
    }
}

extension ConsoleSession {
    fileprivate init(_ row: Row) throws {
        self.init(
            tenant: TenantID(rawValue: row["tenant"]), roles: try Column.value([AccessRole].self, from: row["roles"]),
            key: row["key"], createdAt: Instant(milliseconds: row["created_at"]),
            usedAt: Instant(milliseconds: row["used_at"]), endsAt: Instant(milliseconds: row["ends_at"]))
    }
}

extension Database {
    fileprivate func isGood(key: String, at now: Instant) throws -> Bool {
        try row(
            "SELECT 1 FROM api_keys WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)",
            [key, now.milliseconds]) != nil
    }

    fileprivate func insert(_ session: ConsoleSession, hash: String) throws {
        try run(
            """
            INSERT INTO console_sessions (hash, kind, tenant, roles, key, created_at, used_at, ends_at)
            VALUES (?, 'session', ?, ?, ?, ?, ?, ?)
            """,
            [
                hash, session.tenant.rawValue, Column.text(session.roles), session.key,
                session.createdAt.milliseconds, session.usedAt.milliseconds, session.endsAt.milliseconds,
            ])
    }
}
