public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func newConsoleCode(
        for tenant: TenantID, roles: [AccessRole]
    ) async throws(AttachmentError) -> (ConsoleCode, AccessToken) {
        let token = TokenFormat.newConsoleToken()
        let code = try await write { tables, now in
            let code = ConsoleCode(tenant: tenant, roles: roles, createdAt: now)
            tables.consoleCodes[token.hash] = code
            return code
        }
        return (code, token)
    }

    public func signIn(withCode code: AccessToken) async throws(AttachmentError) -> (ConsoleSession, AccessToken)? {
        let token = TokenFormat.newConsoleToken()
        let session = try await write { tables, now -> ConsoleSession? in
            guard let code = tables.consoleCodes.removeValue(forKey: code.hash), code.isLive(at: now) else {
                return nil
            }
            let session = ConsoleSession(signedInWith: code, at: now)
            tables.consoleSessions[token.hash] = session
            tables.note(.signedIn(session, hash: token.hash), at: now)
            return session
        }
        return session.map { ($0, token) }
    }

    public func signIn(with key: APIKeyRecord) async throws(AttachmentError) -> (ConsoleSession, AccessToken)? {
        let token = TokenFormat.newConsoleToken()
        let session = try await write { tables, now -> ConsoleSession? in
            guard let key = tables.keys[key.id]?.record, key.isGood(at: now) else { return nil }
            let session = ConsoleSession(signedInWith: key, at: now)
            tables.consoleSessions[token.hash] = session
            tables.note(.signedIn(session, hash: token.hash), at: now)
            return session
        }
        return session.map { ($0, token) }
    }

    public func consoleSession(
        of token: AccessToken, byPerson: Bool
    ) async throws(AttachmentError) -> ConsoleSession? {
        let (found, now) = read { tables, now in
            (tables.consoleSessions[token.hash].flatMap { $0.isGood(in: tables, at: now) ? $0 : nil }, now)
        }
        guard var session = found, byPerson, session.needsNoting(at: now) else { return found }
        session.usedAt = now
        try await write { tables, _ in
            if tables.consoleSessions[token.hash] != nil { tables.consoleSessions[token.hash]?.usedAt = now }
        }
        return session
    }

    public func signOut(_ token: AccessToken) async throws(AttachmentError) {
        try await write { tables, _ in tables.consoleSessions[token.hash] = nil }
    }
}

extension ConsoleSession {
    fileprivate func isGood(in tables: MemoryTables, at now: Instant) -> Bool {
        isLive(at: now) && key.map { tables.keys[$0]?.record.isGood(at: now) ?? false } ?? true
    }
}

extension MemoryTables {
    /// Forgets sessions and codes that are over; there are few.
    mutating func forgetConsole(at now: Instant) {
        for (hash, code) in consoleCodes where !code.isLive(at: now) { consoleCodes[hash] = nil }
        for (hash, session) in consoleSessions where session.endsAt <= now { consoleSessions[hash] = nil }
    }
}
