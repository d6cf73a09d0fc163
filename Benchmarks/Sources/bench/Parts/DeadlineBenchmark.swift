import Foundation
import Synchronization

extension Part {
    static let deadlines = Part(
        "deadlines", "deadlines of 50 ms to 30 s: lateness, and what is delivered", isInShortRun: false
    ) { run in
        Findings(
            try DeadlineBenchmark(
                workplace: run.workplace, inputs: run.inputs, samples: run.samples, rounds: run.rounds
            ).measure())
    }
}

/// Deadlines from 50 ms to 30 s, over all the sample files, costly ones and slow origins: whether the answer is there in
/// time, and whether what it delivers is what it says.
struct DeadlineBenchmark {
    let workplace: Workplace
    private let samples: [Sample]
    private let costly: [Sample]
    private let runs: Int

    /// A file, and the type that it is submitted as.
    struct Sample: Sendable {
        var url: URL
        var bytes: Data
    }

    /// In each round; five are as many as are needed to speak of 99.9 %.
    private static let runsOfRound = 400
    /// As many as the machine has processors: the load that is admitted.
    private static let clients = 2
    /// After its deadline an answer may be so late; seconds.
    private static let allowance = 0.1
    /// Of what was delivered at full effort, every so many is decoded; all of the rest.
    private static let decodedShare = 6

    init(workplace: Workplace, inputs: Inputs, samples directory: URL, rounds: Int) throws {
        runs = rounds * Self.runsOfRound
        self.workplace = workplace
        samples = try SampleFiles.all(in: directory).map(Self.sample)
        costly = try inputs.costlySources().map(Self.sample)
    }

    private static func sample(_ url: URL) throws -> Sample {
        Sample(url: url, bytes: try Data(contentsOf: url, options: .alwaysMapped))
    }

    func measure() throws -> [Measurement] {
        let origin = try SlowOrigin(files: (samples + costly).map(\.bytes))
        let service = try RunningService(
            workplace, settings: ["--set", "fetch.allow=127.0.0.0/8:\(origin.port)"])
        defer { service.stop() }
        let outcomes = Outcomes()
        let deliveries = try Deliveries(workplace.scratch.appending(path: "delivered", directoryHint: .isDirectory))
        let before = try Self.settled(service)
        let next = Counter()
        try Clients.run(Self.clients) { _ in
            let connection = HTTPConnection(port: service.port)
            while case let index = next.next(), index < runs {
                if index.isMultiple(of: 50) { Progress.say("deadlines: \(index) of \(runs)") }
                let outcome = try run(
                    Run(index, samples: samples.count, costly: costly.count), service, origin, connection)
                outcomes.add(outcome)
                if let job = outcome.job { try deliveries.take(job, index, over: connection) }
            }
        }
        Progress.say("deadlines: looking at what was delivered")
        let left = try Self.leftBehind(by: service, since: before)
        let invalid = try deliveries.invalid(decoding: Self.decodedShare)
        return report(outcomes.all, invalid: invalid, decoded: deliveries.decoded, left: left)
    }

    // MARK: One run

    /// What one run submits: a value of its number, so that a campaign can be repeated.
    struct Run {
        var index: Int
        /// Seconds.
        var deadline: Double
        /// Of all sources.
        var source: Int
        /// Nil for an upload.
        var origin: SlowOrigin.Manner?

        init(_ index: Int, samples: Int, costly: Int) {
            self.index = index
            var random = SplitMix(state: UInt64(index))
            // Log-uniform; most are short, so that a campaign takes minutes.
            let isLong = random.unit() < 0.04
            let (least, most) = isLong ? (2.0, 30.0) : (0.05, 2.0)
            deadline = least * pow(most / least, random.unit())
            source = random.unit() < 0.12 ? samples + Int(random.unit() * Double(costly)) : index % samples
            origin = random.unit() < 0.15 ? SlowOrigin.Manner.allCases[Int(random.unit() * 5) % 5] : nil
        }
    }

    struct Job: Decodable, Sendable {
        struct Attachment: Decodable, Sendable {
            struct Rendition: Decodable, Sendable {
                var mediaType: String
                var bytes: Int
                var url: String?
            }

            struct Failure: Decodable, Sendable {
                var code: String
            }

            var state: String
            var fidelity: String?
            var kind: String?
            var renditions: [String: Rendition]
            var error: Failure?
        }

        var state: String
        var deadlineAt: String?
        var attachments: [Attachment]
    }

    struct Outcome: Sendable {
        var index: Int
        var source: String
        var deadline: Double
        var manner: SlowOrigin.Manner?
        /// Seconds from the deadline to the answer; negative before it.
        var lateness: Double
        /// Nil where it was no answer with a job.
        var job: Job?
        var status: Int
    }

    private func run(
        _ run: Run, _ service: RunningService, _ origin: SlowOrigin, _ connection: HTTPConnection
    ) throws -> Outcome {
        let sample = run.source < samples.count ? samples[run.source] : costly[run.source - samples.count]
        let query = "/v1/jobs?profile=notification&lease_ttl=600"
        var headers = service.authorization.merging(["Prefer": "wait=60"]) { $1 }
        let answer: HTTPConnection.Answer
        if let manner = run.origin {
            headers["Content-Type"] = "application/json"
            let url = origin.address(of: run.source, manner, within: run.deadline, unlike: run.index)
            let body =
                #"{"profile":"notification","lease_ttl":600,"deadline":\#(run.deadline),"attachments":[{"url":"\#(url)"}]}"#
            answer = try connection.send("POST", "/v1/jobs", headers: headers, body: Data(body.utf8))
        } else {
            headers["Content-Type"] = "application/octet-stream"
            answer = try connection.send(
                "POST", "\(query)&deadline=\(run.deadline)", headers: headers, body: sample.bytes.unlike(run.index))
        }
        let now = Date()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let job = try? decoder.decode(Job.self, from: answer.body)
        let end = job?.deadlineAt.flatMap {
            try? Date($0, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
        return Outcome(
            index: run.index, source: sample.url.lastPathComponent, deadline: run.deadline, manner: run.origin,
            lateness: end.map { now.timeIntervalSince($0) } ?? .infinity, job: job, status: answer.status)
    }

    // MARK: What came of them

    private func report(_ outcomes: [Outcome], invalid: [String], decoded: Int, left: Int) -> [Measurement] {
        let late = outcomes.filter { $0.lateness > Self.allowance || $0.status != 200 }
        for outcome in late.sorted(by: { $0.lateness > $1.lateness }).prefix(20) {
            Progress.note(
                "late: run \(outcome.index), \(outcome.source), deadline \(outcome.deadline) s, "
                    + "\(outcome.manner.map { "origin: \($0.rawValue)" } ?? "upload"): \(outcome.status), "
                    + "\(outcome.lateness * 1000) ms after it")
        }
        for line in invalid.prefix(20) { Progress.note("invalid: \(line)") }
        let overshoots = outcomes.map(\.lateness)
        var counts: [String: Int] = [:]
        for outcome in outcomes {
            let attachment = outcome.job?.attachments.first
            let word = attachment?.fidelity ?? attachment?.error?.code ?? attachment?.state ?? "\(outcome.status)"
            counts[word, default: 0] += 1
        }
        let share = Double(late.count) / Double(max(1, outcomes.count)) * 1000
        return [
            Measurement(
                "deadline.late", "Deadlines of 50 ms to 30 s: answers over 100 ms after them", .perThousand, [share],
                target: .atMost(1)),
            Measurement("deadline.runs", "— runs", .count, [Double(outcomes.count)], target: .atLeast(2000)),
            Measurement(
                "deadline.worst", "— the latest, after its deadline", .milliseconds,
                [(overshoots.max() ?? .infinity) * 1000]),
            Measurement(
                "deadline.p999", "— the latest but the worst 0.1 %", .milliseconds,
                [Figures(overshoots).percentile(0.999) * 1000]),
            Measurement(
                "deadline.unfinished", "— answered while still at work, because the store was slow", .count,
                [Double(outcomes.count { $0.status == 202 })], target: .atMost(0)),
            Measurement(
                "deadline.invalid", "— delivered, and not what it says", .count, [Double(invalid.count)],
                target: .atMost(0)),
            Measurement("deadline.decoded", "— renditions decoded to know", .count, [Double(decoded)]),
            Measurement(
                "deadline.left", "— files and processes left behind", .count, [Double(left)], target: .atMost(0)),
        ]
            + counts.sorted { $0.value > $1.value }.map {
                Measurement("deadline.\($0.key)", "— \($0.key)", .count, [Double($0.value)])
            }
    }

    /// Unfinished files, and processes more than before, when nothing is underway any more. Uploads of what failed are kept
    /// in the spool, to be tried again.
    private static func leftBehind(by service: RunningService, since before: Footprint) throws -> Int {
        let staging = service.store.appending(path: "staging").path(percentEncoded: false)
        var left = Int.max
        for _ in 0..<40 where left > 0 {
            usleep(250_000)
            let staged = (try? FileManager.default.contentsOfDirectory(atPath: staging).count) ?? 0
            left = staged + max(0, try service.footprint.children - before.children)
        }
        return left
    }

    /// What it holds once its reserve is there, which comes a moment after it is ready.
    private static func settled(_ service: RunningService) throws -> Footprint {
        var last = try service.footprint
        for _ in 0..<20 {
            usleep(500_000)
            let now = try service.footprint
            if now.children == last.children { return now }
            last = now
        }
        return last
    }

    private final class Outcomes: Sendable {
        private let outcomes = Mutex<[Outcome]>([])

        func add(_ outcome: Outcome) {
            outcomes.withLock { $0.append(outcome) }
        }

        var all: [Outcome] { outcomes.withLock { $0 } }
    }
}

/// What jobs delivered: fetched at once, looked at afterwards.
private final class Deliveries: Sendable {
    private struct Delivered: Sendable {
        var file: URL
        var what: String
        var isFull: Bool
        var type: String
    }

    private struct State {
        var delivered: [Delivered] = []
        var complaints: [String] = []
        var decoded = 0
    }

    private let directory: URL
    private let state = Mutex(State())

    /// What the profile `notification` promises never to exceed; bytes.
    private static let caps = ["image": 10_000_000, "animation": 10_000_000, "audio": 5_000_000, "video": 50_000_000]

    init(_ directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    var decoded: Int { state.withLock { $0.decoded } }

    /// Fetches what a job delivered, and compares it with what the job says of it.
    func take(_ job: DeadlineBenchmark.Job, _ index: Int, over connection: HTTPConnection) throws {
        for attachment in job.attachments where attachment.state == "delivered" {
            let what = "run \(index), \(attachment.kind ?? "nothing"), \(attachment.fidelity ?? "no fidelity")"
            let hasMain = attachment.renditions["main"] != nil
            switch attachment.fidelity {
            case "full"?, "reduced"?: if !hasMain { complain("\(what): without a main rendition") }
            case "partial"?: if hasMain || attachment.renditions.isEmpty { complain("\(what): it isn't") }
            default: complain("\(what): unknown")
            }
            for (role, rendition) in attachment.renditions {
                guard let path = rendition.url.flatMap(URL.init(string:))?.path() else {
                    complain("\(what): \(role) has no URL")
                    continue
                }
                let answer = try connection.send("GET", path)
                guard answer.status == 200, answer.body.count == rendition.bytes else {
                    complain("\(what): \(role) answers \(answer.status) with \(answer.body.count) bytes")
                    continue
                }
                if let cap = Self.caps[attachment.kind ?? ""], answer.body.count > cap {
                    complain("\(what): \(role) has \(answer.body.count) bytes, over its cap")
                }
                let file = directory.appending(path: "\(index)-\(role)")
                try answer.body.write(to: file)
                let delivered = Delivered(
                    file: file, what: "\(what), \(role)", isFull: attachment.fidelity == "full",
                    type: rendition.mediaType)
                state.withLock { $0.delivered.append(delivered) }
            }
        }
    }

    /// Decodes what was fetched with FFmpeg: of what was delivered in full one of `share`, and all of the rest.
    ///
    /// - Returns: What isn't what it says.
    func invalid(decoding share: Int) throws -> [String] {
        let all = state.withLock { $0.delivered }
        for (number, delivered) in all.enumerated() where !delivered.isFull || number.isMultiple(of: share) {
            let path = delivered.file.path(percentEncoded: false)
            do {
                try Command("ffmpeg", ["-v", "error", "-xerror", "-i", path, "-f", "null", "-"]).run()
            } catch {
                complain("\(delivered.what): \(error)")
            }
            state.withLock { $0.decoded += 1 }
        }
        return state.withLock { $0.complaints }
    }

    private func complain(_ text: String) {
        state.withLock { $0.complaints.append(text) }
    }
}
