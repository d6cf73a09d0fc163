/// Why the database didn't do what was asked. Each is one sentence that says what would help; no bound value is in it.
public enum PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The connection's URL or settings can't be read.
    case badParameters(reason: String)
    /// No address is known for the host.
    case unknownHost(reason: String)
    /// Nobody answers there, or not in time.
    case unreachable(reason: String)
    case wrongPassword(reason: String)
    /// The server wants a password, and none was given.
    case noPassword
    /// The role doesn't exist, may not connect from here, or not to this database.
    case refused(reason: String)
    case noDatabase(reason: String)
    /// TLS didn't come about, or the server isn't who it should be.
    case certificate(reason: String)
    /// Of the hosts, none takes writes.
    case readOnly
    case tooOld(version: Int)
    /// Starting, stopping, or no connection is left.
    case notReady(reason: String)
    /// A statement failed; its transaction was taken back.
    case statement(PostgresFailure)
    /// The connection is gone. Where `isOutcomeKnown` is false, a commit was under way.
    case connectionLost(reason: String, isOutcomeKnown: Bool)
    /// No answer came by the deadline, so the connection was closed. Where `isOutcomeKnown` is false, a commit was under
    /// way.
    case timedOut(after: Duration, isOutcomeKnown: Bool)
    /// A text holds a NUL, which PostgreSQL doesn't keep.
    case nul
    /// A column isn't there, or isn't of the type that was asked for.
    case unexpectedColumn(String)
    /// The pool was closed.
    case closed

    public var description: String {
        switch self {
        case .badParameters(let reason):
            "The database's URL can't be used: \(reason). It should look like postgres://user@host/database."
        case .unknownHost(let reason):
            "The database's host isn't known: \(reason). Correct the name in its URL, or the name server."
        case .unreachable(let reason):
            "The database can't be reached: \(reason). Check that it runs, its host and port, and what is between."
        case .wrongPassword(let reason):
            "The database refused the password: \(reason). Correct it in PGPASSWORD or in the password file."
        case .noPassword:
            "The database wants a password, and none was given. Set PGPASSWORD, or put it into the password file."
        case .refused(let reason):
            "The database refused this role: \(reason). Create the role, or let it in by pg_hba.conf."
        case .noDatabase(let reason):
            "There is no such database: \(reason). Create it, or correct its name in the URL."
        case .certificate(let reason):
            "The connection to the database isn't secure: \(reason). Correct sslmode, sslrootcert or the server's certificate."
        case .readOnly:
            "The database accepts no writes: it is a standby or read-only. Name the primary in the URL, or promote it."
        case .tooOld(let version):
            "The database is PostgreSQL \(version / 10_000), but 15 or later is required. Upgrade the server."
        case .notReady(let reason):
            "The database accepts no connections now: \(reason). Wait until it is up, or raise max_connections."
        case .statement(let failure): failure.description
        case .connectionLost(let reason, _): "The connection to the database was lost: \(reason)."
        case .timedOut(let duration, _):
            "The database didn't answer within \(duration.components.seconds) s, so the connection was closed."
        case .nul: "A text contains a NUL, which the database can't store."
        case .unexpectedColumn(let name): "The database's answer has no suitable column '\(name)'."
        case .closed: "The connections to the database were closed."
        }
    }

    /// Whether the same may succeed soon, on a new connection: after a restart, or once another server is promoted.
    public var isPassing: Bool {
        switch self {
        case .unreachable, .readOnly, .notReady, .connectionLost: true
        // A primary that just became a standby, or is going down.
        case .statement(let failure): failure.isPassing
        default: false
        }
    }

    /// Whether the server stayed connected and did not answer in time.
    public var isSilence: Bool { if case .timedOut = self { true } else { false } }

    /// Whether nothing was changed, for certain.
    public var isOutcomeKnown: Bool {
        switch self {
        case .connectionLost(_, let isKnown), .timedOut(_, let isKnown): isKnown
        default: true
        }
    }

    /// The failure of a statement with this code.
    public func isFailure(_ code: String) -> Bool {
        if case .statement(let failure) = self { failure.code == code } else { false }
    }
}

/// A statement's failure, as the server tells it.
public struct PostgresFailure: Hashable, Sendable, CustomStringConvertible {
    /// Its SQLSTATE: five characters, the first two of which are the class.
    public var code: String
    /// For a log. What comes behind a colon may be a value, and is cut off.
    public var message: String
    /// The rule that was broken, where it has a name.
    public var constraint: String?
    public var sql: String

    public static let deadlock = "40P01"
    public static let serialization = "40001"
    public static let uniqueViolation = "23505"
    public static let foreignKeyViolation = "23503"
    public static let checkViolation = "23514"

    public var description: String {
        "The database refused a statement (\(code)): \(message)."
    }

    /// A deadlock, or a transaction that others overtook: to be done again.
    public var isConflict: Bool { code == Self.deadlock || code == Self.serialization }

    var isPassing: Bool {
        // Shut down, crashed, starting; a standby's refusal of writes; a pooler that lost its server; a transaction of a node
        // that slept.
        ["57P01", "57P02", "57P03", "25006", "08P01", "25P03"].contains(code)
    }

    /// A prepared statement's columns were changed by a migration: it has to be prepared anew, on a new connection.
    var isOutdated: Bool { code == "0A000" }

    /// No room for data or memory.
    public var isOutOfSpace: Bool { code == "53100" }

    /// Damaged data or a damaged index.
    public var isOfDamage: Bool { code == "XX001" || code == "XX002" }
}

extension PostgresError {
    /// What libpq says of an attempt to connect.
    ///
    /// - Parameter message: With SQLSTATE where the server answered, as verbose errors have it.
    init(connecting message: String) {
        let line = message.split(separator: "\n").map { String($0) }
        let text = line.first { !$0.isEmpty } ?? message
        let reason = Self.clause(text)
        let lower = message.lowercased()
        switch Self.code(in: message) {
        case "28P01": self = .wrongPassword(reason: reason)
        case "28000" where lower.contains("certificate"): self = .certificate(reason: reason)
        case "28000", "42501": self = .refused(reason: reason)
        case "3D000": self = .noDatabase(reason: reason)
        case "53300", "57P03", "57P01", "57P02", "53400": self = .notReady(reason: reason)
        case .some: self = .unreachable(reason: reason)
        case nil where lower.contains("no password supplied"): self = .noPassword
        case nil where lower.contains("read-only") || lower.contains("hot standby"): self = .readOnly
        case nil where lower.contains("translate host name"): self = .unknownHost(reason: reason)
        case nil where lower.contains("certificate") || lower.contains("ssl"): self = .certificate(reason: reason)
        case nil: self = .unreachable(reason: reason)
        }
    }

    /// The SQLSTATE in a verbose error: `FATAL:  28P01: password …`.
    static func code(in message: String) -> String? {
        message.split(separator: ":").lazy.map { $0.trimmed }.first { part in
            part.utf8.count == 5
                && part.utf8.allSatisfy {
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                } && part.utf8.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    }

    /// A line as a clause of a sentence: without what comes before the cause, its code and its full stop.
    static func clause(_ line: String) -> String {
        var text = line
        for mark in ["FATAL:", "ERROR:"] {
            if let range = text.firstRange(of: mark) { text = String(text[range.upperBound...]) }
        }
        if let code = code(in: text), let range = text.firstRange(of: code + ":") {
            text = String(text[range.upperBound...])
        }
        if let range = text.firstRange(of: "failed: ") { text = String(text[range.upperBound...]) }
        text = text.trimmed
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var text = Substring(self)
        while text.first?.isWhitespace ?? false { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}
