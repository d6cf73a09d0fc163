import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ObservationTests {
    /// Reads the text as Prometheus does: every family with its type, help and samples.
    private func parse(_ text: String) throws -> [String: [String: Any]] {
        let script = """
            import json, sys
            from prometheus_client.parser import text_string_to_metric_families
            print(json.dumps({f.name: {'type': f.type, 'help': f.documentation,
                'samples': [[s.name, s.labels, s.value] for s in f.samples]}
                for f in text_string_to_metric_families(sys.stdin.read())}))
            """
        // Debian's, which has Debian's packages.
        let python = Program(URL(filePath: "/usr/bin/python3"))
        let result = try python.run(["-c", script], input: Data(text.utf8))
        try #require(result.status == 0, "\(result.errorText)")
        return try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: [String: Any]])
    }

    @Test(.needs(.prometheus))
    func `the metrics are what Prometheus reads, each explained, and count what happened`() async throws {
        let harness = try ServiceHarness()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let server = try await harness.serve("--fetch-allow", "127.0.0.1")
        for number in 0..<3 { _ = try await server.submit("good-\(number)", origin.url("/\(number).jpg")) }
        _ = try await server.submit("bad", origin.url("/status/404/x.jpg"))
        for number in 0..<3 { _ = try await server.finished("good-\(number)") }
        _ = try await server.finished("bad")
        _ = try await server.get("/no/such/path")
        let text = try await server.get("/metrics").text
        let families = try parse(text)
        let lint = try Program.tool("promtool").run(["check", "metrics"], input: Data(text.utf8))
        #expect(lint.status == 0, "\(lint.errorText)")
        func samples(_ name: String) -> [(name: String, labels: [String: String], value: Double)] {
            // The parser takes the end off a counter's name.
            let family = families[name] ?? families[name.replacing("_total", with: "")]
            return (family?["samples"] as? [[Any]] ?? []).compactMap { sample in
                guard sample.count == 3, let name = sample[0] as? String, let labels = sample[1] as? [String: String],
                    let value = sample[2] as? Double
                else { return nil }
                return (name, labels, value)
            }
        }
        for (name, family) in families {
            #expect(name.hasPrefix("satchel_"))
            #expect((family["help"] as? String)?.isEmpty == false, "\(name) is not explained")
            #expect(family["type"] as? String != "unknown", "\(name)")
        }
        let attachments = samples("satchel_attachments_finished_total")
        #expect(
            attachments.contains {
                $0.labels["state"] == "delivered" && $0.labels["kind"] == "image" && $0.labels["fidelity"] == "full"
                    && $0.value == 3
            }, "\(attachments)")
        #expect(attachments.contains { $0.labels["code"] == "fetch_failed" && $0.value == 1 }, "\(attachments)")
        let stages = Set(samples("satchel_stage_seconds").compactMap { $0.labels["stage"] })
        #expect(stages.isSuperset(of: ["fetch", "identify", "main"]), "\(stages)")
        let job = samples("satchel_job_seconds").filter { $0.labels["lane"] == "fetch" }
        let counts = job.filter { $0.name.hasSuffix("_bucket") }.map(\.value)
        #expect(!counts.isEmpty)
        #expect(counts == counts.sorted() && counts.last == job.first { $0.name.hasSuffix("_count") }?.value)
        for name in [
            "satchel_queue_jobs", "satchel_queue_oldest_seconds", "satchel_leases",
            "satchel_leases_left_to_expire_total",
            "satchel_blob_bytes", "satchel_fetches_total", "satchel_fetched_bytes_total",
            "satchel_codec_processes_total",
            "satchel_codec_granted_bytes", "satchel_codec_peak_bytes", "satchel_process_resident_bytes",
            "satchel_process_cpu_seconds_total", "satchel_process_open_descriptors",
            "satchel_process_start_time_seconds", "satchel_ready", "satchel_fetch_places",
            "satchel_starved_seconds_total",
        ] {
            #expect(!samples(name).isEmpty, "there is no \(name)")
        }
        // Routes by their template; what has none is one.
        let routes = Set(samples("satchel_http_requests_total").compactMap { $0.labels["route"] })
        #expect(routes.contains("/v1/jobs/{id}") && routes.contains("none"))
        #expect(routes.allSatisfy { !$0.contains("good-") && !$0.contains("such") }, "\(routes)")
    }

    @Test func `each job is a line of JSON with its times, its trace and why it failed`() async throws {
        let harness = try ServiceHarness()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let foreign = try await LocalOrigin(LocalOrigin.photographs)
        let server = try await harness.serve(
            "--fetch-allow", "127.0.0.1", "--callback-allow", "127.0.0.1", "--set", "log.requests=true", "--set",
            "fetch.trace=\(origin.url(""))")
        let trace = "0af7651916cd43dd8448eb211c80319c"
        let answer = try await server.submit(
            "traced", origin.url("/a.jpg"),
            ["traceparent": "00-\(trace)-b7ad6b7169203331-01", "X-Request-Id": "my-request.1"],
            more: ["callback": ["url": origin.url("/hook")]])
        #expect(answer.status == 202 && answer["X-Request-Id"] == "my-request.1")
        _ = try await server.submit("broken", foreign.url("/status/404/x.jpg"), ["X-Request-Id": "no\"good"])
        _ = try await server.finished("traced")
        _ = try await server.finished("broken")
        try await eventually("the callback is called") { origin.requests.contains { $0.method == "POST" } }
        var jobs: [String: [String: Any]] = [:]
        try await eventually("both jobs are logged") {
            for line in try server.log where line["message"] as? String == "job" {
                jobs[line["job"] as? String ?? ""] = line
            }
            return jobs.count == 2
        }
        let traced = try #require(jobs["traced"])
        #expect(traced["state"] as? String == "delivered" && traced["tenant"] as? String == "default")
        #expect(traced["trace_id"] as? String == trace)
        let stages = try #require(traced["stages"] as? [String: Double])
        #expect(stages["fetch"] != nil && stages["identify"] != nil && stages["main"] != nil, "\(stages)")
        #expect(traced["queue_seconds"] is Double && traced["work_seconds"] is Double && traced["seconds"] is Double)
        let attachments = try #require(traced["attachments"] as? [[String: Any]])
        #expect(attachments.first?["kind"] as? String == "image" && attachments.first?["fidelity"] as? String == "full")
        let broken = try #require(jobs["broken"])
        #expect(((broken["attachments"] as? [[String: Any]])?.first?["code"]) as? String == "fetch_failed")
        // One of its own where none came.
        let own = try #require(broken["trace_id"] as? String)
        #expect(own.wholeMatch(of: /[0-9a-f]{32}/) != nil && own != trace)
        let request = try #require(
            try server.log.first {
                $0["message"] as? String == "request" && $0["request_id"] as? String == "my-request.1"
            })
        #expect(request["route"] as? String == "/v1/jobs/{id}" && request["method"] as? String == "PUT")
        #expect(request["status"] as? Int == 202 && request["trace_id"] as? String == trace)
        #expect(try !server.program.outputSoFar.contains("no\\\"good"))
        let callback = try #require(origin.requests.first { $0.method == "POST" })
        #expect(callback.headers["traceparent"]?.hasPrefix("00-\(trace)-") == true, "\(callback.headers)")
        let fetch = try #require(origin.requests.first { $0.method == "GET" })
        #expect(fetch.headers["traceparent"]?.hasPrefix("00-\(trace)-") == true, "\(fetch.headers)")
        let elsewhere = foreign.requests
        #expect(!elsewhere.isEmpty && elsewhere.allSatisfy { $0.headers["traceparent"] == nil })
    }
}
