import SatchelCore
import Foundation
import Glibc
import PostgresTestSupport
import S3
import ServiceTestSupport
import TestSupport
import Testing

/// Batches of several machines, which share a database and a bucket.
@Suite(.needs(.ceph), .timeLimit(.minutes(10))) struct SharedBatchTests: ~Copyable {
    let harness: ServiceHarness
    /// Where its sources are, beside the store's own.
    let bucket: SourceBucket
    private let database: String

    init() throws {
        let harness = try ServiceHarness(.cluster)
        let bucket = try SourceBucket()
        let url = try #require(harness.satchel.environment["SATCHEL_STORE"])
        let database = String(try #require(url.firstMatch(of: /@\/(test_[0-9]+)/)).1)
        self.harness = harness
        self.bucket = bucket
        self.database = database
    }

    /// A part of the gateway's bucket that no other test uses.
    struct SourceBucket: Sendable {
        let client: S3Client
        let prefix = "sources-" + UUID().uuidString.lowercased()

        init() throws {
            let gateway = try S3Gateway.shared()
            client = try S3Client(
                S3Configuration("s3://\(S3Gateway.bucket)", endpoint: gateway.endpoint, usesPathStyle: true),
                credentials: S3Credentials(accessKey: gateway.accessKey, secretKey: gateway.secretKey))
        }

        var url: String { "s3://\(S3Gateway.bucket)/\(prefix)" }

        func put(_ bytes: Data, as name: String) async throws {
            try await client.put(Array(bytes), as: prefix + "/" + name)
        }

        /// Photographs of which no two are the same.
        func putPhotos(_ names: [String]) async throws {
            let photo = try SharedBatchTests.photo
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in names { group.addTask { try await put(photo + Data(name.utf8), as: name) } }
                try await group.waitForAll()
            }
        }

        /// Keys beneath a prefix of the bucket, without it.
        func keys(_ beneath: String) async throws -> [String] {
            try await client.list(beneath, limit: 10_000).elements.map {
                String($0.key.dropFirst(beneath.count))
            }
        }
    }

    private static var photo: Data {
        get throws { try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg")) }
    }

    /// One of several machines, with a disk of its own.
    private func machine(
        _ number: Int, _ arguments: [String], reaching endpoint: String? = nil
    ) throws -> RunningProgram {
        let spool = harness.home.path + "/machine\(number)"
        var environment = harness.satchel.environment.merging([
            "SATCHEL_SPOOL": spool, "SATCHEL_NODES_DEAD_AFTER": "3",
        ]) { $1 }
        if let endpoint { environment["SATCHEL_S3_ENDPOINT"] = endpoint }
        return try Program(harness.satchel.executable, environment: environment, in: harness.home.url).start(
            ["batch"] + arguments)
    }

    private func batch(_ arguments: String...) async throws -> (status: Int32, states: [String: String], errors: String)
    {
        let result = try await machine(0, arguments + ["--format", "jsonl"]).end()
        return (result.status, try Self.states(result.outputText), result.errorText)
    }

    /// The state on each line by path; a line that was cut off is none.
    private static func states(_ output: String) throws -> [String: String] {
        var states: [String: String] = [:]
        for line in output.split(separator: "\n") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                continue
            }
            let path = try #require(object["path"] as? String)
            #expect(states[path] == nil, "two lines for \(path)")
            states[path] = object["state"] as? String
        }
        return states
    }

    private func number(_ sql: String) async throws -> Int {
        let database = database
        let rows = try await onThread { try PostgresServer.shared().execute(sql, in: database) }
        return try #require(rows.first?.first?.flatMap { Int($0) })
    }

    @Test func `machines share a run, and one that is killed loses nothing`() async throws {
        let names = (0..<60).map { "\($0 % 7)/\($0).jpg" }
        try await bucket.putPhotos(names)
        let line = [bucket.url, "--format", "jsonl", "--output", "s3://\(S3Gateway.bucket)/\(bucket.prefix)-out"]
        let machines = try [machine(1, line), machine(2, line), machine(3, line)]
        try await eventually("two machines have begun") {
            try machines.count { try !$0.outputSoFar.isEmpty } >= 2
        }
        let killed = try #require(try machines.first { try !$0.outputSoFar.isEmpty })
        let others = machines.filter { $0 !== killed }
        kill(killed.process.processIdentifier, SIGKILL)
        let lost = try await killed.end()
        var told: [String: String] = try Self.states(lost.outputText)
        for machine in others {
            let result = try await machine.end()
            #expect(result.status == 0, "\(result.errorText)")
            // The run's, not the machine's.
            #expect(result.errorText.contains("60 files: 60 delivered."), "\(result.errorText)")
            for (path, state) in try Self.states(result.outputText) {
                #expect(told[path] == nil && state == "delivered", "\(path) was done twice")
                told[path] = state
            }
        }
        #expect(Set(told.keys).isSubset(of: names))
        #expect(try await number("SELECT count(*) FROM jobs WHERE state = 'delivered'") == 60)
        #expect(try await number("SELECT count(*) FROM jobs") == 60)
        #expect(try await number("SELECT count(DISTINCT details::json->'source'->>'path') FROM attachments") == 60)
        #expect(try await number("SELECT count(*) FROM queue") == 0)
        #expect(try await number("SELECT count(*) FROM run_nodes") == 0)
        // What the killed one owed is there too.
        let written = try await bucket.keys(bucket.prefix + "-out/")
        #expect(Set(written.filter { $0.contains(".main.") }) == Set(names.map { $0 + ".main.jpg" }))

        let again = try await batch(bucket.url, line[3], line[4])
        #expect(again.status == 0 && again.states == Dictionary(uniqueKeysWithValues: names.map { ($0, "unchanged") }))
        #expect(again.errors.contains("Nothing to do: 60 files unchanged"), "\(again.errors)")
        try await bucket.put(Self.photo + Data("another".utf8), as: names[0])
        try await bucket.putPhotos(["new.jpg"])
        let changed = try await batch(bucket.url, line[3], line[4])
        #expect(Set(changed.states.filter { $0.value == "delivered" }.keys) == [names[0], "new.jpg"])
        #expect(changed.errors.contains("61 files: 2 delivered, 59 unchanged."), "\(changed.errors)")
    }

    @Test func `a run waits while the bucket is away, and ends whole`() async throws {
        let names = (0..<30).map { "\($0).jpg" }
        try await bucket.putPhotos(names)
        let store = try await AbsentBucket()
        let output = "s3://\(S3Gateway.bucket)/\(bucket.prefix)-out"
        let run = try machine(1, [bucket.url, "--format", "jsonl", "--output", output], reaching: store.endpoint)
        try await eventually("it has begun") { try !run.outputSoFar.isEmpty }
        store.leave()
        try await eventually("it waits") { try run.errorsSoFar.contains("waits for an outage to end") }
        store.comeBack()
        let result = try await run.end()
        #expect(result.status == 0 && result.errorText.contains("30 files: 30 delivered."), "\(result.errorText)")
        let written = try await bucket.keys(bucket.prefix + "-out/")
        #expect(Set(written.filter { $0.contains(".main.") }) == Set(names.map { $0 + ".main.jpg" }))
    }

    @Test func `a run that is interrupted carries on, and its summary is that of all of it`() async throws {
        let names = (0..<20).map { "\($0).jpg" }
        try await bucket.putPhotos(names)
        try await bucket.put(Data("no media".utf8), as: "damaged.jpg")
        let first = try machine(0, [bucket.url, "--format", "jsonl"])
        try await eventually("it has begun") { try !first.outputSoFar.isEmpty }
        kill(first.process.processIdentifier, SIGINT)
        let interrupted = try await first.end()
        #expect(
            interrupted.status == 130 && interrupted.errorText.contains("again to continue"), "\(interrupted.errorText)"
        )
        let done = try Self.states(interrupted.outputText)
        #expect(done.count < names.count)
        let rest = try await batch(bucket.url)
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(Set(done.keys).isDisjoint(with: rest.states.keys))
        #expect(rest.errors.contains("21 files: 20 delivered, 1 skipped"), "\(rest.errors)")
        #expect(!rest.errors.contains("unchanged"))
        #expect(try await number("SELECT count(*) FROM jobs") == 21)
    }

    @Test func `a key is nothing but a name, whatever it looks like`() async throws {
        let long =
            String(repeating: "d/", count: 200)
            + String(repeating: "n", count: 1024 - 404 - bucket.prefix.utf8.count - 1) + ".jpg"
        let names = [
            "../../up.jpg", "a//b.jpg", "new\nline.jpg", "\u{301}mark.jpg", "%2e%2e+ &?#'\"<>.jpg", "full/", long,
        ]
        try #require((bucket.prefix + "/" + long).utf8.count == 1024)
        try await bucket.putPhotos(names)
        try await bucket.put(Data(), as: "")
        try await bucket.put(Data(), as: "directory/")
        try await bucket.put(Data(), as: "empty.jpg")
        let output = "\(bucket.prefix)-out"
        let result = try await batch(bucket.url, "--output", "s3://\(S3Gateway.bucket)/\(output)")
        #expect(result.status == 0, "\(result.errors)")
        var states = Dictionary(uniqueKeysWithValues: names.map { ($0, "delivered") })
        states["empty.jpg"] = "skipped"
        #expect(result.states == states, "\(result.errors)")
        let written = try await bucket.keys(output + "/").filter { $0.contains(".main.") }
        #expect(written.count == names.count && Set(written).count == names.count, "\(written)")
        #expect(
            !written.contains { $0.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) } })
        #expect(written.allSatisfy { (output + "/" + $0).utf8.count <= 1024 })
        let again = try await batch(bucket.url, "--output", "s3://\(S3Gateway.bucket)/\(output)")
        #expect(again.status == 0 && Set(again.states.values) == ["unchanged"], "\(again.errors)")
    }

    @Test func `a directory's run is shared by whoever names it, and by nobody with other options`() async throws {
        let photo = try Self.photo
        for index in 0..<20 { try harness.file("in/\(index).jpg", photo + Data("\(index)".utf8)) }
        let line = ["in", "--run", "holiday", "--output", "out", "--format", "jsonl"]
        let machines = try [machine(1, line), machine(2, line)]
        var told: [String: String] = [:]
        for machine in machines {
            let result = try await machine.end()
            #expect(result.status == 0, "\(result.errorText)")
            told.merge(try Self.states(result.outputText)) { _, new in new }
        }
        #expect(told.count == 20)
        #expect(try await number("SELECT count(*) FROM jobs") == 20)
        let files = try FileManager.default.contentsOfDirectory(atPath: harness.home.path + "/out")
        #expect(files.filter { $0.contains(".main.") }.count == 20)
        // As if it weren't over.
        _ = try await number("UPDATE runs SET ended_at = NULL RETURNING 1")
        let other = try await batch("in", "--run", "holiday", "--profile", "message")
        #expect(other.status == 2 && other.errors.contains("'holiday' is in progress"), "\(other.errors)")
    }

    @Test func `one machine with a store of its own takes a bucket's objects too`() async throws {
        try await bucket.putPhotos(["a.jpg", "b/c.jpg", "b/d.png"])
        let directory = harness.home.path + "/own"
        let dry = try await machine(0, [bucket.url, "--store", directory, "--dry-run"]).end()
        #expect(dry.status == 0 && dry.outputText.contains(/image +3/), "\(dry.outputText)\(dry.errorText)")
        let result = try await batch(bucket.url, "--store", directory, "--exclude", "*.png", "--output", "out")
        #expect(
            result.status == 0 && result.states == ["a.jpg": "delivered", "b/c.jpg": "delivered"], "\(result.errors)")
        #expect(FileManager.default.fileExists(atPath: harness.home.path + "/out/b/c.jpg.main.jpg"))
        let again = try await batch(bucket.url, "--store", directory, "--exclude", "*.png")
        #expect(Set(again.states.values) == ["unchanged"], "\(again.errors)")
    }

    @Test func `what can't be used is one sentence`() async throws {
        try await bucket.putPhotos(["a.jpg"])
        let missing = "s3://\(S3Gateway.bucket)/\(bucket.prefix)-not-there"
        let cases: [(arguments: [String], environment: [String: String], said: String)] = [
            (["s3://no-such-bucket/a"], [:], "doesn't exist"),
            (["s3://B_/a"], [:], "a bucket's name has"),
            ([missing], [:], "there are no objects under"),
            ([bucket.url], ["AWS_SECRET_ACCESS_KEY": "hidden"], "secret key"),
            ([bucket.url, "--shard", "1/2"], [:], "--shard"),
            ([bucket.url, "--max-failures", "3"], [:], "--max-failures"),
            ([bucket.url, "--output", "out"], [:], "--output"),
            ([bucket.url, "--output", bucket.url], [:], "is or contains the source"),
            ([bucket.url, "--move", "--profile", "archive"], [:], "--move"),
            ([bucket.url, "--run", "name"], [:], "--run"),
            ([bucket.url, "in"], [:], "only source"),
            (["Package.swift", "--run", "name", "--store", "own"], [:], "--run"),
        ]
        try harness.file("Package.swift", Data())
        for (arguments, environment, said) in cases {
            let program = Program(
                harness.satchel.executable, environment: harness.satchel.environment.merging(environment) { $1 },
                in: harness.home.url)
            let result = try await program.start(["batch"] + arguments).end()
            #expect(result.status == 2 && result.outputText.isEmpty, "\(arguments): \(result.outputText)")
            #expect(result.errorText.contains(said), "\(arguments): \(result.errorText)")
            #expect(!result.errorText.contains("hidden") && !result.errorText.contains("Fatal"))
        }
        let watch = try await harness.run("watch", bucket.url)
        #expect(watch.status == 2 && watch.errorText.contains("is a bucket"), "\(watch.errorText)")
    }
}
