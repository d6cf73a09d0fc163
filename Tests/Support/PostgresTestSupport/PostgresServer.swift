internal import CPostgres
internal import Foundation
internal import Glibc
internal import Synchronization
internal import TestSupport

/// PostgreSQL's server as Debian has it, in a temporary directory with a socket and a port of its own. It ends with the
/// process of the tests, however that ends.
public final class PostgresServer: Sendable {
    /// Where its socket lies, and what it keeps.
    public let directory: String
    public let port: Int
    private let bin: String
    private let settings: [String]
    /// What keeps each start running, as long as it is open.
    private let leashes = Mutex<[FileHandle]>([])
    private let databases = Atomic<Int>(0)

    /// The one of this process, for tests that harm nothing; it keeps what is committed in memory, as no test cuts its power.
    public static func shared() throws -> PostgresServer {
        try common.get()
    }

    private static let common = Result { try PostgresServer() }

    public struct Missing: Error, CustomStringConvertible {
        public let description: String
    }

    /// Its superuser, whom a socket lets in.
    public static let user = "satchel"

    /// - Parameters:
    ///   - settings: Beside those that tests want, as `name=value`.
    ///   - rules: Lines of `pg_hba.conf`, before those that let everybody in.
    ///   - isDurable: Whether a commit waits for the disk.
    public init(settings: [String] = [], rules: [String] = [], isDurable: Bool = false) throws {
        bin = try Self.programs()
        // Short: a socket's path has 107 bytes at most.
        directory = "/tmp/satchel-pg-\(UUID().uuidString.prefix(8).lowercased())"
        port = try FreePort.find()
        self.settings = settings + (isDurable ? [] : ["fsync=off", "synchronous_commit=off", "full_page_writes=off"])
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        if Privileges.canChangeUser {
            _ = try Program.tool("chown").run([Self.account, directory])
        }
        let made = try Program.tool(Self.guise[0]).run(
            Self.guise.dropFirst() + [
                bin + "/initdb", "-D", data, "-A", "trust", "-U", Self.user, "-E", "UTF8", "--locale=C", "--no-sync",
            ])
        guard made.status == 0 else {
            throw Missing(description: "initdb failed: \(String(decoding: made.errors, as: UTF8.self))")
        }
        if !rules.isEmpty {
            let path = URL(filePath: data + "/pg_hba.conf")
            let known = try String(contentsOf: path, encoding: .utf8)
            try Data((rules.joined(separator: "\n") + "\n" + known).utf8).write(to: path)
        }
        try start()
    }

    deinit {
        if let number = process { signal(SIGQUIT, to: number) }
    }

    private var data: String { directory + "/data" }

    /// The server won't run as root.
    static var guise: [String] {
        if Privileges.canChangeUser { return ["setpriv", "--reuid", account, "--regid", account, "--clear-groups"] }
        return getuid() == 0 ? ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"] : ["env"]
    }

    private static let account = FileManager.default.fileExists(atPath: "/var/lib/postgresql") ? "postgres" : "nobody"

    private static func programs() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        for version in versions.compactMap({ Int($0) }).sorted(by: >) {
            let bin = "\(root)/\(version)/bin"
            if FileManager.default.isExecutableFile(atPath: bin + "/postgres") { return bin }
        }
        if let told = try? Program.tool("pg_config").run(["--bindir"]), told.status == 0 {
            let bin = String(decoding: told.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if FileManager.default.isExecutableFile(atPath: bin + "/postgres") { return bin }
        }
        throw Missing(
            description:
                "PostgreSQL's server isn't installed: ./install-dependencies.sh test, or apt-get install postgresql")
    }

    // MARK: Its life

    /// Starts it, and waits until it takes connections.
    public func start() throws {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw Missing(description: "there is no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let isFirst = leashes.withLock { leashes in
            leashes.append(FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
            return leashes.count == 1
        }
        let standard = [
            "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(directory)",
            "max_connections=1000",
            "autovacuum=off", "shared_buffers=64MB", "logging_collector=off", "log_min_messages=fatal",
        ]
        // The shell reads until the last end of the pipe is closed, which is with the tests' process at the latest.
        let script = """
            where=$1; shift
            "$@" >"$where/log" 2>&1 & server=$!
            cat >/dev/null
            kill -QUIT $server 2>/dev/null; wait $server
            [ \(isFirst ? "yes" : "no") = no ] && exit
            for _ in 1 2 3 4 5 6 7 8 9; do rm -rf "$where" && break; sleep 0.3; done
            """
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            ["-c", script, "sh", directory] + Self.guise + [bin + "/postgres", "-D", data]
            + (standard + settings).flatMap { ["-c", $0] }
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let end = ContinuousClock.now + .seconds(60)
        while (try? execute("SELECT 1", in: "postgres")) == nil {
            guard ContinuousClock.now < end else {
                let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
                throw Missing(description: "PostgreSQL's server didn't start: \(log.suffix(500))")
            }
            usleep(20_000)
        }
    }

    /// The number of the process that all others come from; nil where none runs.
    private var process: pid_t? {
        let text = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
        return text.flatMap { $0.split(separator: "\n").first }.flatMap { pid_t($0) }
    }

    private func signal(_ signal: Int32, to process: pid_t) {
        kill(process, signal)
    }

    /// Ends it as a crash would: what was committed is brought back by the next start.
    public func crash() throws {
        guard let number = process else { return }
        kill(number, SIGQUIT)
        let end = ContinuousClock.now + .seconds(60)
        while kill(number, 0) == 0, process != nil {
            guard ContinuousClock.now < end else { throw Missing(description: "PostgreSQL's server doesn't end") }
            usleep(10_000)
        }
    }

    /// Has it answer nobody, as a cut network would, until ``resume()``.
    public func pause() throws {
        for number in try family() { kill(number, SIGSTOP) }
    }

    public func resume() throws {
        for number in try family() { kill(number, SIGCONT) }
    }

    private func family() throws -> [pid_t] {
        guard let parent = process else { return [] }
        let children = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
            .filter { number in
                let status = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
                let fields = status?.split(separator: ")").last?.split(separator: " ")
                return fields?.dropFirst().first.flatMap { pid_t($0) } == parent
            }
        return [parent] + children
    }

    // MARK: Databases

    /// How libpq finds a database by the socket. Beside busy loops it may take its time.
    public func url(_ database: String = "postgres") -> String {
        "postgres://\(Self.user)@/\(database)?host=\(directory)&port=\(port)&connect_timeout=60"
    }

    /// How libpq finds a database by TCP.
    ///
    /// - Parameter options: What comes behind the question mark.
    public func networkURL(
        _ database: String = "postgres", user: String = user, _ options: String = "connect_timeout=60"
    ) -> String {
        "postgres://\(user)@127.0.0.1:\(port)/\(database)?\(options)"
    }

    /// A new database. Files are copied: a third of what it costs to log them.
    ///
    /// - Parameter template: One to copy, which nobody uses.
    public func makeDatabase(like template: String = "template0") throws -> String {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        _ = try execute("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY FILE_COPY", in: "postgres")
        return name
    }

    /// Whether somebody takes connections there.
    static func answers(_ url: String) -> Bool {
        let connection = unsafe PQconnectdb(url)
        defer { unsafe PQfinish(connection) }
        return unsafe PQstatus(connection) == CONNECTION_OK
    }

    /// Executes what a test wants beside the program, and waits for it.
    ///
    /// - Returns: The rows of the last statement.
    @discardableResult
    public func execute(_ sql: String, in database: String) throws -> [[String?]] {
        let connection = unsafe PQconnectdb(url(database))
        defer { unsafe PQfinish(connection) }
        guard unsafe PQstatus(connection) == CONNECTION_OK else {
            throw Missing(description: unsafe String(cString: PQerrorMessage(connection)))
        }
        let result = unsafe PQexec(connection, sql)
        defer { unsafe PQclear(result) }
        let status = unsafe PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            throw Missing(description: unsafe String(cString: PQerrorMessage(connection)))
        }
        return unsafe (0..<PQntuples(result)).map { row in
            unsafe (0..<PQnfields(result)).map { column in
                unsafe PQgetisnull(result, row, column) == 1 ? nil : String(cString: PQgetvalue(result, row, column))
            }
        }
    }
}
