import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ConnectingTests {
    private func refusal(_ url: String) throws -> PostgresError? {
        #expect(throws: PostgresError.self) {
            try PostgresConnection.connect(PostgresParameters(url, application: "tests"))
        }
    }

    private static let guarded = Result {
        let server = try PostgresServer(rules: [
            "host all guarded 127.0.0.1/32 scram-sha-256", "host all barred 127.0.0.1/32 reject",
        ])
        try server.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE barred LOGIN", in: "postgres")
        return server
    }

    @Test func `each reason for which there is no connection has a sentence`() async throws {
        let server = try Self.guarded.get()
        let cases: [(String, (PostgresError) -> Bool)] = [
            (
                server.networkURL(user: "guarded:wrong"),
                { if case .wrongPassword = $0 { true } else { false } }
            ),
            (server.networkURL(user: "guarded"), { $0 == .noPassword }),
            (server.networkURL(user: "barred"), { if case .refused = $0 { true } else { false } }),
            (server.networkURL(user: "unknown"), { if case .refused = $0 { true } else { false } }),
            (server.networkURL("nowhere"), { if case .noDatabase = $0 { true } else { false } }),
            (
                server.networkURL("postgres", "sslmode=require&connect_timeout=60"),
                { if case .certificate = $0 { true } else { false } }
            ),
            ("postgres://u@no-such-host.invalid/d", { if case .unknownHost = $0 { true } else { false } }),
            ("postgres://u@127.0.0.1:1/d", { if case .unreachable = $0 { true } else { false } }),
            ("postgres:///d?host=/nowhere", { if case .unreachable = $0 { true } else { false } }),
        ]
        for (url, isExpected) in cases {
            let error = try #require(try refusal(url))
            #expect(isExpected(error), "\(error)")
            let text = "\(error)"
            #expect(text.hasSuffix(".") && !text.contains("\n") && !text.contains("wrong\""), "\(text)")
        }
        let connection = try PostgresConnection.connect(
            PostgresParameters(server.networkURL(user: "guarded:right"), application: "tests"))
        connection.close()
    }

    @Test func `a URL that can't be read is refused without telling it`() throws {
        for url in [
            "postgres://u:secret@h/d?nonsense=secret", "postgres://u:secret@[h/d", "secret", "host=a pass word=secret",
        ] {
            let error = #expect(throws: PostgresError.self) { try PostgresParameters(url, application: "tests") }
            #expect(error.map { "\($0)".contains("secret") } == false, "\(String(describing: error))")
        }
        let parameters = try PostgresParameters("postgres://u:secret@h/d", application: "tests")
        #expect("\(parameters)" == "postgres://u@h/d")
    }

    @Test func `the first of several hosts that takes writes is used`() async throws {
        let server = try PostgresServer()
        let standby = try PostgresServer(settings: ["default_transaction_read_only=on"])
        func url(_ hosts: String, _ ports: String) -> String {
            "host=\(hosts) port=\(ports) user=satchel dbname=postgres connect_timeout=60"
        }
        let connection = try PostgresConnection.connect(
            PostgresParameters(
                url("127.0.0.1,127.0.0.1,127.0.0.1", "1,\(standby.port),\(server.port)"), application: "tests"))
        connection.close()
        #expect(try refusal(url("127.0.0.1", "\(standby.port)")) == .readOnly)
    }

    @Test func `a certificate that nobody vouches for is refused`() async throws {
        let directory = try TemporaryDirectory()
        for name in ["server", "other"] {
            try Program.makeCertificate(
                name, certificate: directory.path + "/\(name).pem", key: directory.path + "/\(name).key")
        }
        _ = try Program.tool("chmod").run(["-R", "a+rX", directory.path])
        // The server takes a key that only its own account, or root, can read.
        _ = try Program.tool("chmod").run(["600", directory.path + "/server.key"])
        _ = try Program.tool("chown").run(["postgres", directory.path + "/server.key"])
        let server = try PostgresServer(settings: [
            "ssl=on", "ssl_cert_file=\(directory.path)/server.pem", "ssl_key_file=\(directory.path)/server.key",
        ])
        func url(_ root: String) -> String {
            server.networkURL(
                "postgres", "connect_timeout=60&sslmode=verify-full&sslrootcert=\(directory.path)/\(root).pem")
        }
        let connection = try PostgresConnection.connect(PostgresParameters(url("server"), application: "tests"))
        let rows = try connection.batch(
            [Statement("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")], within: .seconds(10))
        #expect(try rows[0].first?.bool("ssl") == true)
        connection.close()
        guard case .certificate = try refusal(url("other")) else { throw Unexpected() }
        guard case .certificate = try refusal(url("missing")) else { throw Unexpected() }
    }
}
