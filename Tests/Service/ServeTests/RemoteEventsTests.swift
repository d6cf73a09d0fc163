import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// Jobs that are followed on one node and carried out by another.
@Suite(.needs(.ceph), .timeLimit(.minutes(5))) struct RemoteEventsTests {
    /// A node that takes requests, one that works, and an origin that waits until it is told.
    private struct Cluster: ~Copyable {
        let harness: ServiceHarness
        let gates: Gates
        let origin: LocalOrigin
        let api: ServiceProcess
        let worker: ServiceProcess

        /// - Parameter place: Where the worker says that it is; nil: where it listens.
        init(advertising place: String? = nil) async throws {
            let harness = try ServiceHarness(.cluster)
            let gates = Gates()
            let origin = try await LocalOrigin { [gates] request in
                try await gates.pass(request.path)
                return try await LocalOrigin.photographs(request)
            }
            let key = try await harness.makeKey()
            let address = "127.0.0.1:\(try FreePort.find())"
            let satchel = harness.satchel
            let api = try await Self.node(satchel, ["SATCHEL_ROLE": "api"], at: "127.0.0.1:0", key: key)
            let worker = try await Self.node(
                satchel, ["SATCHEL_ROLE": "worker", "SATCHEL_CLUSTER_ADVERTISE": place ?? "http://\(address)"],
                at: address, key: key)
            self.harness = harness
            self.gates = gates
            self.origin = origin
            self.api = api
            self.worker = worker
        }

        /// Starts a node of the store with settings of its own.
        static func node(
            _ satchel: Program, _ settings: [String: String], at address: String, key: String?
        ) async throws -> ServiceProcess {
            var satchel = satchel
            satchel.environment.merge(settings) { $1 }
            return try await ServiceProcess(
                satchel.start([
                    "serve", "--fetch-allow", "127.0.0.1", "--codecs", "1", "--listen", address,
                ]), key: key)
        }

        func follow(_ job: String, after last: String? = nil) throws -> Follower {
            Follower(
                program: try Program.tool("curl").start([
                    "-sSN", "--max-time", "120", "-H", "Authorization: Bearer \(api.key ?? "")",
                    "-H", "Last-Event-ID: \(last ?? "")", "\(api.url)/v1/jobs/\(job)/events",
                ]))
        }

        func submit(_ job: String) async throws {
            #expect(try await api.submit(job, origin.url("/\(job)")).status == 202)
        }
    }

    private struct Follower {
        let program: RunningProgram

        /// What it has heard so far.
        var events: [(name: String, id: String)] {
            get throws {
                try program.outputSoFar.split(separator: "\n\n").compactMap { frame in
                    func field(_ name: String) -> String {
                        frame.split(separator: "\n").first { $0.hasPrefix(name + ": ") }
                            .map { String($0.dropFirst(name.count + 2)) } ?? ""
                    }
                    let name = field("event")
                    return name.isEmpty ? nil : (name, field("id"))
                }
            }
        }

        var names: [String] { get throws { try events.map(\.name) } }

        func hears(_ name: String) async throws {
            try await eventually("the follower hears \(name)") { try names.contains(name) }
        }
    }

    @Test func `whoever follows a job on another node hears all that happens to it, as it happens`() async throws {
        let cluster = try await Cluster()
        #expect(try await !cluster.harness.run("doctor").outputText.contains("cluster.advertise"))
        try await cluster.submit("one")
        let follower = try cluster.follow("one")
        // The source hasn't come yet.
        try await follower.hears("started")
        #expect(try follower.names == ["job", "accepted", "started"])
        // Cut off, the next one goes on where that was.
        let last = try #require(try follower.events.last?.id)
        follower.program.process.terminate()
        let next = try cluster.follow("one", after: last)
        try await next.hears("job")
        cluster.gates.open("/one")
        _ = try await next.program.end()
        let heard = try next.events
        let names = heard.map(\.name)
        #expect(names.first == "job" && names.last == "finished" && !names.contains("started"), "\(names)")
        #expect(names.contains("stage") && names.contains("rendition"), "\(names)")
        // The numbers are those of the node that did it, as they were before the cut.
        let process = last.prefix { $0 != "-" }
        #expect(heard.filter { $0.name == "rendition" }.allSatisfy { $0.id.hasPrefix(process) })
    }

    /// How a key ends on another node.
    enum Ending: CaseIterable { case revoked, rotated, tenantRemoved }

    @Test(.inCheck("three nodes for each ending"), arguments: Ending.allCases)
    func `what waits or streams under a key ends within a second of the key's end on another node`(
        ending: Ending
    ) async throws {
        let cluster = try await Cluster()
        let json = ["Content-Type": "application/json"]
        let admin = try await cluster.harness.makeKey("--role", "admin")
        let made = try await cluster.api.send(
            "POST", "/v1/keys", json, body: Data(#"{"name": "reader", "roles": ["submit", "read"]}"#.utf8), key: admin
        ).json
        let (id, key) = (try #require(made["id"] as? String), try #require(made["key"] as? String))
        let other = try await Cluster.node(
            cluster.harness.satchel, ["SATCHEL_ROLE": "api"], at: "127.0.0.1:0", key: key)
        #expect(try await other.submit("one", cluster.origin.url("/one")).status == 202)
        let requests = try ["/v1/jobs/one/events", "/v1/jobs/one", "/v1/firings"].map { path in
            try Program.tool("curl").start([
                "-vsSN", "--max-time", "60", "-w", "%{http_code}", "-H", "Authorization: Bearer \(key)",
                "-H", "Prefer: wait=40", "\(other.url)\(path)",
            ])
        }
        try await eventually("all have begun") {
            try requests[0].outputSoFar.contains("event: started")
                && requests.allSatisfy { try $0.errorsSoFar.contains("> Prefer: wait=40") }
        }
        switch ending {
        case .revoked: #expect(try await cluster.api.send("DELETE", "/v1/keys/\(id)", key: admin).status == 204)
        case .rotated:
            let path = "/v1/keys/\(id)/rotate"
            let rotated = try await cluster.api.send(
                "POST", path, json, body: Data(#"{"overlap": 1}"#.utf8), key: admin)
            #expect(rotated.status == 201, "\(rotated.text)")
        case .tenantRemoved: #expect(try await cluster.harness.run("tenant", "rm", "default", "--yes").status == 0)
        }
        let end = ContinuousClock.now + (ending == .rotated ? .seconds(1) : .zero)
        // The last event has URLs, and would come now.
        if ending == .revoked { cluster.gates.open("/one") }
        var outputs: [String] = []
        for request in requests { outputs.append(try await request.end().outputText) }
        // A second is promised; a busy machine gets two more.
        #expect(ContinuousClock.now - end < .seconds(3))
        #expect(!outputs[0].contains("event: finished"), "\(outputs[0])")
        for output in outputs.dropFirst() { #expect(output.hasSuffix("401"), "\(output)") }
    }

    @Test func `a node that isn't where it says leaves its jobs' followers with beginning and end`() async throws {
        let cluster = try await Cluster(advertising: "http://127.0.0.1:1")
        try await cluster.submit("one")
        let follower = try cluster.follow("one")
        try await follower.hears("started")
        cluster.gates.open("/one")
        _ = try await follower.program.end()
        #expect(try follower.names == ["job", "accepted", "started", "finished"])
    }

    @Test func `when a node is killed, its jobs' followers hear of them from the next`() async throws {
        let cluster = try await Cluster()
        try await cluster.submit("one")
        let follower = try cluster.follow("one")
        try await follower.hears("started")
        let address = "127.0.0.1:\(try FreePort.find())"
        let second = try await Cluster.node(
            cluster.harness.satchel,
            [
                "SATCHEL_ROLE": "worker", "SATCHEL_CLUSTER_ADVERTISE": "http://\(address)",
                "SATCHEL_NODES_DEAD_AFTER": "3",
            ], at: address, key: cluster.api.key)
        cluster.worker.signal(SIGKILL)
        try await eventually("it begins anew") { try follower.names.count { $0 == "started" } == 2 }
        cluster.gates.open("/one")
        _ = try await follower.program.end()
        let names = try follower.names
        #expect(names.contains("rendition") && names.last == "finished", "\(names)")
        withExtendedLifetime(second) {}
    }

    @Test func `nobody but a node of the same store is told anything`() async throws {
        let cluster = try await Cluster()
        for node in [cluster.api, cluster.worker] {
            #expect(try await node.get("/cluster/events").status == 401)
            #expect(try await node.send("GET", "/cluster/events", key: "a.b.c").status == 401)
        }
        let alone = try ServiceHarness()
        #expect(try await alone.serve().get("/cluster/events").status == 404)
    }
}
