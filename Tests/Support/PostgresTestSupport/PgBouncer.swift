internal import Foundation
internal import Glibc
internal import TestSupport

/// Debian's PgBouncer in front of a server: each transaction gets whichever of few connections is free. It ends with this
/// value, or with the process of the tests.
public final class PgBouncer: Sendable {
    public let port: Int
    private let directory: String
    private let leash: FileHandle

    /// - Parameter connections: To the server, for each database.
    public init(before server: PostgresServer, connections: Int) throws {
        let program = "/usr/sbin/pgbouncer"
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw PostgresServer.Missing(
                description: "PgBouncer isn't installed: ./install-dependencies.sh test, or apt-get install pgbouncer")
        }
        directory = "/tmp/satchel-bouncer-\(UUID().uuidString.prefix(8).lowercased())"
        port = try FreePort.find()
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(
            """
            [databases]
            * = host=\(server.directory) port=\(server.port) user=\(PostgresServer.user)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            max_client_conn = 400
            default_pool_size = \(connections)
            query_wait_timeout = 0
            ignore_startup_parameters = options

            """.utf8
        ).write(to: URL(filePath: directory + "/pgbouncer.ini"))
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw PostgresServer.Missing(description: "there is no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        leash = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        // The shell reads until the other end of the pipe is closed.
        let script = """
            where=$1; shift
            "$@" >"$where/log" 2>&1 & bouncer=$!
            cat >/dev/null
            kill -QUIT $bouncer 2>/dev/null; wait $bouncer
            rm -rf "$where"
            """
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            ["-c", script, "sh", directory] + PostgresServer.guise + [program, directory + "/pgbouncer.ini"]
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let end = ContinuousClock.now + .seconds(60)
        while !PostgresServer.answers(url("postgres")) {
            guard ContinuousClock.now < end else {
                let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
                throw PostgresServer.Missing(description: "PgBouncer didn't start: \(log.suffix(500))")
            }
            usleep(20_000)
        }
    }

    public func url(_ database: String) -> String {
        "postgres://\(PostgresServer.user)@127.0.0.1:\(port)/\(database)?connect_timeout=60"
    }
}
