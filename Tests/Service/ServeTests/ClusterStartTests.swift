import Foundation
import PostgresTestSupport
import ServiceTestSupport
import TestSupport
import Testing

/// What is wrong with a database or a bucket is said at the start, in one sentence that says what would help.
@Suite(.needs(.ceph), .timeLimit(.minutes(10))) struct ClusterStartTests {
    /// A cluster, what is done to it, and what is said then.
    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Names of variables and what they are instead.
        var environment: [String: String] = [:]
        /// In the database, before the node starts.
        var sql: String?
        var said: String

        init(_ name: String, _ environment: [String: String] = [:], sql: String? = nil, says said: String) {
            testDescription = name
            self.environment = environment
            self.sql = sql
            self.said = said
        }
    }

    static let faults = [
        Fault(
            "nobody answers", ["SATCHEL_STORE": "postgres://satchel:hidden@127.0.0.1:1/satchel"],
            says: "can't be reached"
        ),
        Fault(
            "the host isn't known", ["SATCHEL_STORE": "postgres://satchel:hidden@nowhere.invalid/satchel"],
            says: "host isn't known"),
        Fault("the URL is none", ["SATCHEL_STORE": "postgres://satchel:hidden@host:x/satchel"], says: "port"),
        Fault("the schema was never made", sql: "DROP TABLE schema_version", says: "satchel store migrate"),
        Fault(
            "the schema is an older one", sql: "UPDATE schema_version SET version = 0", says: "satchel store migrate"),
        Fault(
            "the schema is a newer one", sql: "UPDATE schema_version SET version = 99, least_node = 99",
            says: "newer version of Satchel"),
        Fault(
            "the database accepts no writes",
            sql:
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$",
            says: "accepts no writes"),
        Fault("no bucket is named", ["SATCHEL_BLOBS": ""], says: "blobs"),
        Fault("what is named is no bucket", ["SATCHEL_BLOBS": "http://bucket"], says: "s3://bucket/prefix"),
        Fault("the bucket isn't there", ["SATCHEL_BLOBS": "s3://no-such-bucket"], says: "doesn't exist"),
        Fault("the secret is another", ["AWS_SECRET_ACCESS_KEY": "hidden"], says: "secret key"),
        Fault("the access key isn't known", ["AWS_ACCESS_KEY_ID": "nobody"], says: "doesn't know the access key"),
        Fault(
            "there are no credentials",
            ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true"],
            says: "no credentials"),
        Fault(
            "the host of the bucket isn't known", ["SATCHEL_S3_ENDPOINT": "http://nowhere.invalid"],
            says: "can't be reached"),
        Fault("the bucket's server is away", ["SATCHEL_S3_ENDPOINT": "http://127.0.0.1:1"], says: "can't be reached"),
    ]

    @Test(arguments: faults) func `what is wrong is one sentence, without a secret`(fault: Fault) async throws {
        let harness = try ServiceHarness(.cluster)
        if let sql = fault.sql {
            let url = try #require(harness.satchel.environment["SATCHEL_STORE"])
            let name = try #require(url.firstMatch(of: /@\/(test_[0-9]+)/)).1
            _ = try await onThread { try PostgresServer.shared().execute(sql, in: String(name)) }
        }
        let environment = harness.satchel.environment.merging(fault.environment) { $1 }
        let program = Program(harness.satchel.executable, environment: environment, in: harness.home.url)
        let result = try await program.start(["serve", "--listen", "127.0.0.1:0"]).end()
        // What may be there soon is worth another start.
        let isAway = ["can't be reached", "host isn't known", "accepts no writes"].contains(fault.said)
        #expect(result.status == (isAway ? 3 : 2) && result.outputText.isEmpty, "\(result.outputText)")
        #expect(result.errorText.contains(fault.said), "\(result.errorText)")
        #expect(!result.errorText.contains("hidden") && !result.errorText.contains("Fatal"), "\(result.errorText)")
    }

    @Test func `a node without the keys that its store needs is refused, and makes none`() async throws {
        let harness = try ServiceHarness(.cluster)
        let keys = harness.home.path + "/keys/access.keys"
        #expect(try await harness.run("list").status == 0)
        try FileManager.default.removeItem(atPath: keys)
        #expect(try await harness.run("list").status == 0, "it needs none yet")
        _ = try await harness.makeKey()
        try FileManager.default.removeItem(atPath: keys)
        for command in [["serve", "--listen", "127.0.0.1:0"], ["list"], ["key", "create"]] {
            let result = try await harness.satchel.start(command).end()
            #expect(result.status == 2 && result.errorText.contains("'\(keys)' is missing"), "\(result.errorText)")
            #expect(!FileManager.default.fileExists(atPath: keys))
        }
    }

    @Test func `the doctor tells what a database and a bucket are like, and what is wrong with them`() async throws {
        let harness = try ServiceHarness(.cluster)
        let well = try await harness.run("doctor").outputText
        #expect(well.contains(/ok +database +postgres:\/\/satchel@.*PostgreSQL [0-9]+/), "\(well)")
        #expect(well.contains(/ok +bucket +s3:\/\/satchel\//), "\(well)")
        // The server of the tests keeps commits in memory.
        #expect(well.contains(/!! +database +fsync=off/), "\(well)")
        #expect(well.contains(/-- +database +commits do not wait for a standby/), "\(well)")
        let url = try #require(harness.satchel.environment["SATCHEL_STORE"])
        let name = String(try #require(url.firstMatch(of: /@\/(test_[0-9]+)/)).1)
        _ = try await onThread {
            let server = try PostgresServer.shared()
            try server.execute(
                "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", in: name)
        }
        let reader = url.replacing("satchel@", with: "reader@")
        let poor = try await harness.run("doctor", "--store", reader).outputText
        #expect(poor.contains(/!! +database +this role has no access to .*attachments/), "\(poor)")
        let program = Program(
            harness.satchel.executable,
            environment: harness.satchel.environment.merging(["AWS_SECRET_ACCESS_KEY": "hidden"]) { $1 },
            in: harness.home.url)
        let wrong = try await program.start(["doctor"]).end()
        #expect(wrong.status == 1 && wrong.outputText.contains(/!! +bucket +The secret key/), "\(wrong.outputText)")
        #expect(!wrong.outputText.contains("hidden"))
    }

    @Test func `the doctor finds a pooler through which nodes don't wake each other`() async throws {
        let harness = try ServiceHarness(.cluster)
        let url = try #require(harness.satchel.environment["SATCHEL_STORE"])
        let name = String(try #require(url.firstMatch(of: /@\/(test_[0-9]+)/)).1)
        #expect(try await !harness.run("doctor").outputText.contains("wake each other"))
        let pooler = try await onThread { try PgBouncer(before: .shared(), connections: 2) }
        func found(_ settings: [String: String]) async throws -> String {
            let environment = harness.satchel.environment.merging(["SATCHEL_STORE": pooler.url(name)]) { $1 }
            let program = Program(
                harness.satchel.executable, environment: environment.merging(settings) { $1 }, in: harness.home.url)
            return try await program.start(["doctor"]).end().outputText
        }
        let unknown = try await found([:])
        #expect(unknown.contains(/-- +database +nodes look for work every 100 ms.*postgres\.pooled/), "\(unknown)")
        let known = try await found(["SATCHEL_POSTGRES_POOLED": "true"])
        #expect(known.contains(/-- +database +nodes look for work every 100 ms.*postgres\.notify/), "\(known)")
        let quiet = try await found(["SATCHEL_POSTGRES_POOLED": "true", "SATCHEL_POSTGRES_NOTIFY": "off"])
        #expect(quiet.contains(/ok +database/) && !quiet.contains("wake each other"), "\(quiet)")
        withExtendedLifetime(pooler) {}
    }

    @Test func `a worker answers for itself alone, and does what another node accepted`() async throws {
        let harness = try ServiceHarness(.cluster)
        let key = try await harness.makeKey("--role", "admin")
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        let front = try await harness.serve("--role", "api", key: key)
        #expect(
            try await front.send("PUT", "/v1/jobs/one?profile=message", ["Content-Type": "image/jpeg"], body: photo)
                .status == 202)
        // Nobody works yet.
        try await Task.sleep(for: .seconds(2))
        #expect(try await front.get("/v1/jobs/one").json["state"] as? String == "pending")
        let worker = try await harness.serve("--role", "worker", key: key)
        for path in ["/livez", "/readyz", "/metrics"] { #expect(try await worker.get(path).status == 200) }
        for path in ["/v1/jobs/one", "/v1/jobs", "/openapi.json", "/c/satl_x/main.jpg"] {
            #expect(try await worker.get(path).status == 404, "\(path)")
        }
        let job = try await front.finished("one")
        #expect(job["state"] as? String == "delivered", "\(job)")
        #expect(try worker.log.contains { $0["message"] as? String == "job" })
        #expect(try !front.log.contains { $0["message"] as? String == "job" })
        // A second one: whoever follows a job on either hears as little of the other as that says where it is.
        let second = try await harness.serve("--role", "worker", key: key)
        try await eventually("the doctor says so") {
            try await harness.run("doctor").outputText
                .contains(
                    /-- +database +no URL for other nodes is set on .*, of 2 working nodes\. .*cluster\.advertise/)
        }
        let told = try await harness.run("doctor").outputText
        #expect(told.contains(/ok +nodes +running: 1 api, 2 worker\n/), "\(told)")
        #expect(try await second.stop().status == 0)
        // It is one no longer, however long its last heartbeat stands.
        let rest = try await harness.run("doctor").outputText
        #expect(
            rest.contains(/ok +nodes +running: 1 api, 1 worker\n/) || rest.contains("; 1 stopping"), "\(rest)")
        let attachments = try #require(job["attachments"] as? [[String: Any]])
        let renditions = try #require(attachments.first?["renditions"] as? [String: [String: Any]])
        let path = (renditions["main"]?["url"] as? String).flatMap { URL(string: $0)?.path() }
        let content = try await front.get(path ?? "")
        #expect(content.status == 200 && content.data.count == renditions["main"]?["bytes"] as? Int)
    }
}
