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

    @Test func `a key that another process revokes ends its followers within a second, before any link`() async throws {
        let cluster = try await Cluster()
        try await cluster.submit("one")
        let follower = try cluster.follow("one")
        try await follower.hears("started")
        let keys = try await cluster.harness.run("key", "list", "--format", "json").output
        let list = try #require(try JSONSerialization.jsonObject(with: keys) as? [[String: Any]])
        for id in list.compactMap({ $0["id"] as? String }) { _ = try await cluster.harness.run("key", "revoke", id) }
        let revoked = ContinuousClock.now
        cluster.gates.open("/one")
        _ = try await follower.program.end()
        #expect(ContinuousClock.now - revoked < .seconds(3))
        let names = try follower.names
        #expect(!names.contains("finished"), "\(names)")
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
