internal import CPostgres
internal import Glibc

/// How to reach a database, and what is asked of each connection.
///
/// libpq's own words, which a URL may say otherwise: a cut network is noticed within 3 s, where libpq alone would wait for
/// the system's two hours.
public struct PostgresParameters: Sendable, CustomStringConvertible {
    /// Of each statement; the server ends it then.
    public static let statementTimeout: Duration = .seconds(10)
    /// Between two statements of one transaction: who sleeps holds no lock for longer.
    public static let idleTimeout: Duration = .seconds(5)
    /// PostgreSQL 15, as the server counts.
    static let oldestVersion = 150_000

    /// Of libpq, by their names.
    let options: [String: String]
    /// The hosts, each with all options, in the order in which they are tried; one where the URL names none.
    let hosts: [[String: String]]
    /// Behind a pooler in transaction mode: nothing of a session is used (named statements, LISTEN, start-up options).
    public let isPooled: Bool

    private static let defaults = [
        "target_session_attrs": "read-write", "connect_timeout": "2", "tcp_user_timeout": "3000", "keepalives": "1",
        "keepalives_idle": "2", "keepalives_interval": "1", "keepalives_count": "3",
    ]

    /// - Parameters:
    ///   - url: As libpq has it: `postgres://…`, with several hosts, or `key=value` pairs; what it doesn't say is taken from
    ///     libpq's environment, password file and service file.
    ///   - application: By which the server's administrator knows the connection: node and version.
    /// - Throws: ``PostgresError/badParameters(reason:)``, without the URL: it may hold a password.
    public init(_ url: String, application: String, isPooled: Bool = false) throws(PostgresError) {
        var options = Self.defaults
        for (key, value) in try Self.parse(url) { options[key] = value }
        options["application_name"] = application
        options["client_encoding"] = "UTF8"
        // A pooler takes none; there each batch says the same.
        if !isPooled {
            let timeouts = Self.timeouts.map { "-c \($0)=\($1.components.seconds * 1000)" }
            let own = (timeouts + Self.planning).joined(separator: " ")
            options["options"] = options["options"].map { own + " " + $0 } ?? own
        }
        for port in (options["port"] ?? "").split(separator: ",") where !(1...65_535).contains(Int(port) ?? 0) {
            throw .badParameters(reason: "its port is not a number from 1 to 65535")
        }
        self.options = options
        self.isPooled = isPooled
        hosts = Self.split(options)
    }

    static let timeouts = [
        ("statement_timeout", statementTimeout), ("idle_in_transaction_session_timeout", idleTimeout),
    ]

    /// Statements are prepared and name all that an index needs: a plan that was made once fits every value, and costs most of
    /// them more than what it does. Compiling plans pays for none of them.
    private static let planning = ["-c plan_cache_mode=force_generic_plan", "-c jit=off"]

    /// How long one host may take to answer.
    var patience: Duration {
        .seconds(max(1, min(options["connect_timeout"].flatMap { Int($0) } ?? 2, 60)))
    }

    /// Without a password.
    public var description: String {
        let user = options["user"].map { $0 + "@" } ?? ""
        let hosts = hosts.map { ($0["host"] ?? $0["hostaddr"] ?? "") + ($0["port"].map { ":" + $0 } ?? "") }
        return "postgres://\(user)\(hosts.joined(separator: ","))/\(options["dbname"] ?? "")"
    }

    private static func parse(_ url: String) throws(PostgresError) -> [(String, String)] {
        var message: UnsafeMutablePointer<CChar>?
        guard let first = unsafe PQconninfoParse(url, &message) else {
            defer { unsafe PQfreemem(message) }
            // libpq quotes what it can't read, which may be the password.
            var reason = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            if let quote = reason.firstIndex(of: "\"") { reason = String(reason[..<quote]) }
            while let last = reason.last, last.isWhitespace || last == ":" || last == "." { reason.removeLast() }
            throw .badParameters(reason: reason)
        }
        defer { unsafe PQconninfoFree(first) }
        var pairs: [(String, String)] = []
        var option = unsafe first
        while let key = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe pairs.append((String(cString: key), String(cString: value)))
            }
            unsafe option += 1
        }
        return pairs
    }

    /// One host after the other: libpq, driven without waiting, would stay at the first that doesn't answer.
    private static func split(_ options: [String: String]) -> [[String: String]] {
        func list(_ key: String) -> [String] {
            options[key].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count)
        guard count > 1 else { return [options] }
        return (0..<count).map { index in
            var one = options
            if names.indices.contains(index) { one["host"] = names[index] }
            if addresses.indices.contains(index) { one["hostaddr"] = addresses[index] }
            if ports.count > 1, ports.indices.contains(index) { one["port"] = ports[index] }
            return one
        }
    }
}
