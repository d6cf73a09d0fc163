import SatchelCore
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// Deadlines over work that takes longer than they allow: a small edition of what `bench --only deadline` measures, for a
/// machine that has other things to do.
@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
    /// Seconds after a deadline, beside other tests and on a busy machine; alone it is a tenth of a second. What is silent
    /// is so for longer.
    private static let allowance = 15.0
    private static let runs = 60

    private enum Work: CaseIterable {
        case progressive, film, animation, photograph, silentOrigin, slowOrigin
    }

    @Test func `every job has come to its end by its deadline, and delivers what it says`() async throws {
        let directory = try TemporaryDirectory()
        let sources = try Self.sources(in: directory.url)
        let origin: LocalOrigin.Script = { request in
            guard request.target.contains("silent") else {
                return LocalOrigin.Answer(body: sources[.photograph] ?? Data(), pause: .milliseconds(2))
            }
            return LocalOrigin.Answer(delay: .seconds(60))
        }
        let outcomes = try await LocalOrigin.run(origin) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                let outcomes = try await withThrowingTaskGroup(of: [String].self) { group in
                    // As many at once as are admitted.
                    for worker in 0..<2 {
                        group.addTask { try await Self.run(from: worker, sources, live, origin) }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                // Nothing is left of what was not delivered.
                let staging = live.directory.appending(path: "store/staging").path(percentEncoded: false)
                try await eventually {
                    try FileManager.default.contentsOfDirectory(atPath: staging).first == nil
                }
                return outcomes
            }
        }
        // There was something to stop.
        #expect(outcomes.contains("deadline_exceeded"))
        #expect(outcomes.count == Self.runs)
    }

    private static func run(
        from worker: Int, _ sources: [Work: Data], _ live: LiveService, _ origin: LocalOrigin
    ) async throws -> [String] {
        var outcomes: [String] = []
        for index in stride(from: worker, to: runs, by: 2) {
            outcomes.append(try await run(index, sources, live, origin))
        }
        return outcomes
    }

    /// - Returns: What it came to, in a word.
    private static func run(
        _ index: Int, _ sources: [Work: Data], _ live: LiveService, _ origin: LocalOrigin
    ) async throws -> String {
        let work = Work.allCases[index % Work.allCases.count]
        // Spread evenly over the orders of magnitude, from 50 ms to 1.2 s.
        let deadline = 0.05 * pow(24, Double((index * 7) % runs) / Double(runs - 1))
        let query = "profile=notification&lease_ttl=600&deadline=\(deadline)"
        let reply: Reply
        if let bytes = sources[work] {
            reply = try await live.send(
                .post, "/v1/jobs?\(query)", ["Content-Type": "application/octet-stream", "Prefer": "wait=60"],
                // Unlike every other, so that no work is shared.
                body: bytes + Data("\(index)".utf8))
        } else {
            let url = origin.url(work == .silentOrigin ? "/silent?\(index)" : "/slow?\(index)")
            reply = try await live.send(
                .post, "/v1/jobs", ["Prefer": "wait=60"],
                json:
                    #"{"profile": "notification", "lease_ttl": 600, "deadline": \#(deadline), "attachments": [{"url": "\#(url)"}]}"#
            )
        }
        let arrived = Date()
        var job = try reply.json
        let end = try #require(date(job["deadline_at"]), "answered \(reply.status): \(reply.text)")
        let what = "run \(index): \(work) within \(deadline) s"
        #expect(arrived.timeIntervalSince(end) < allowance, "\(what): the answer came late")
        if reply.status == 202 {
            // The store was slow: the answer was on time, and the end comes soon.
            job = try await live.send(.get, "/v1/jobs/\(job["id"].string ?? "")", ["Prefer": "wait=30"]).json
        }
        let finished = try #require(date(job["finished_at"]), "\(what): it hasn't finished")
        #expect(finished.timeIntervalSince(end) < allowance, "\(what): it went on")

        let attachment = job["attachments"][0]
        let renditions = attachment["renditions"]
        let step = attachment["steps"].array.last { $0["name"].string == "fidelity" }
        #expect(
            (step == nil) == [nil, "full"].contains(attachment["fidelity"].string),
            "\(what): \(attachment["fidelity"].string ?? "failed") for \(step?["note"].string ?? "no reason")")
        guard let fidelity = attachment["fidelity"].string else {
            let code = try #require(attachment["error"]["code"].string)
            // A bucket that is asked for longer than there is time.
            let slow = SharedEngines.areUsed ? ["store_failed"] : []
            #expect((["deadline_exceeded", "fetch_timeout", "fetch_failed"] + slow).contains(code), "\(what): \(code)")
            return code
        }
        let hasMain = renditions.keys.contains("main")
        #expect(
            hasMain == (fidelity == "full" || fidelity == "reduced"), "\(what): \(fidelity) with \(renditions.keys)")
        #expect(!renditions.keys.isEmpty)
        for role in renditions.keys where fidelity != "full" {
            let url = try #require(renditions[role]["url"].string)
            let content = try await live.send(.get, live.path(of: url), key: nil)
            #expect(content.status == 200 && content.body.count == renditions[role]["bytes"].int)
            let file = FileManager.default.temporaryDirectory.appending(path: "satchel-test-\(UUID().uuidString)")
            try content.body.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let decoded = try Program.tool("ffmpeg")
                .run(["-v", "error", "-xerror", "-i", file.path(percentEncoded: false), "-f", "null", "-"])
            #expect(decoded.status == 0 && decoded.errors.isEmpty, "\(what): \(role): \(decoded.errorText)")
        }
        return fidelity
    }

    private static func date(_ instant: Tree) -> Date? {
        instant.string.flatMap { try? Date($0, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
    }

    private static func sources(in directory: URL) throws -> [Work: Data] {
        func path(_ name: String) -> String { directory.appending(path: name).path(percentEncoded: false) }
        func run(_ tool: String, _ arguments: [String]) throws {
            let made = try Program.tool(tool).run(arguments)
            try #require(made.status == 0, "\(tool): \(made.errorText)")
        }
        func video(_ source: String, _ arguments: [String]) throws {
            try run("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", source] + arguments)
        }
        try run("vips", ["gaussnoise", path("noise.v"), "5000", "4000", "--mean", "128", "--sigma", "20"])
        try run("vips", ["cast", path("noise.v"), path("bytes.v"), "uchar"])
        try run("vips", ["jpegsave", path("bytes.v"), path("large.jpg"), "--interlace"])
        try video("testsrc2=size=1280x720:rate=30:duration=10", ["-c:v", "mpeg4", "-q:v", "4", path("film.mp4")])
        try video("testsrc2=size=480x360:rate=20:duration=9", [path("long.gif")])
        func bytes(_ name: String) throws -> Data { try Data(contentsOf: directory.appending(path: name)) }
        return [
            .progressive: try bytes("large.jpg"), .film: try bytes("film.mp4"), .animation: try bytes("long.gif"),
            .photograph: try Data(contentsOf: Repository.media.appending(path: "jpeg/earth-12-megapixels.jpg")),
        ]
    }
}
