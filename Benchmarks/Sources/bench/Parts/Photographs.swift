import Foundation

extension Part {
    static let photographs = Part(
        "photographs", "photographs to 1024 and 300 pixels: Satchel, peers and the floor"
    ) { run in
        try PhotographContest(run).measure()
    }
}

/// Camera JPEGs to 1024 and 300 pixels: what it costs whom, and what comes out.
private struct PhotographContest {
    private let run: RunContext
    private let task = StillTask.photographs
    private let set: SourceSet
    private let stills: SatchelStills
    /// What one source more costs is looked at with these; empty with a corpus of the user's own.
    private let more: [String]

    init(_ run: RunContext) throws {
        self.run = run
        stills = try SatchelStills(task, run.workplace)
        set = try run.sources(
            .photographs, synthetic: { try run.inputs.photographs(group: 0) }, refusals: stills.refusals)
        more = run.corpus == nil ? try run.inputs.photographs(group: 1).files : []
    }

    func measure() throws -> Findings {
        let sources = set.files
        let service = try RunningService(run.workplace, settings: stills.serviceSettings)
        defer { service.stop() }
        let thumbor = Result { try Thumbor(run) }
        defer { if case .success(let running) = thumbor { running.stop() } }

        var contenders = [
            stills.batch(sourcesPerProcess: 1000, .fast), stills.batch(sourcesPerProcess: 1, .fast),
            stills.service(service, .fast),
            stills.batch(sourcesPerProcess: 1000, .standard), stills.batch(sourcesPerProcess: 1, .standard),
            stills.service(service, .standard), stills.batch(sourcesPerProcess: 1000, .best),
            StillPeers.vipsthumbnail(task, run), StillPeers.imageMagick(task), StillPeers.graphicsMagick(task),
        ]
        contenders += StillPeers.libraries(task, run)
        contenders.append(
            (try? thumbor.get().peer.contender("thumbor", "thumbor, over HTTP", task))
                ?? .absent("thumbor", "thumbor, over HTTP", thumbor.failureText))
        contenders += try run.options.peers.map { try $0.contender(task) }
        contenders.append(StillPeers.floor(task, run.workplace))

        let judge = StillJudge(run.options, run.workplace)
        let comparison = try Contest(
            name: "photographs", title: "\(set.photographs) to 1024 and 300 pixels, JPEG of quality 80",
            item: "photograph", contenders: contenders, sources: sources, moreSources: more,
            moreRounds: run.isFull ? run.rounds : 1, measure: "vipsthumbnail",
            rounds: run.rounds, workplace: run.workplace, lookColumns: StillJudge.columns(task)
        ).hold { contender, place in
            // The floor scales by leaving pixels out: only its cost is of interest.
            contender.role == .floor ? [] : try judge.figures(task, sources, in: place)
        }
        return Findings(
            measurements(comparison), comparisons: [comparison], plots: plots(comparison), notes: set.notes)
    }

    private func measurements(_ comparison: Comparison) -> [Measurement] {
        func multiple(_ row: String) -> [Double]? { comparison[row]?["multiple"]?.samples }
        func quality(_ row: String) -> Double? { comparison[row]?["psnr_1024"]?.median }
        var found: [Measurement] = []
        func add(_ name: String, _ title: String, _ samples: [Double]?, _ target: Target?, _ unit: Unit = .ratio) {
            guard let samples, !samples.isEmpty else { return }
            found.append(Measurement("photographs.\(name)", title, unit, samples, target: target))
        }
        add(
            "fast_shared",
            "Photographs, fast, shared processes: CPU of vipsthumbnail (\(run.libvips)), in terms of Satchel's",
            multiple("satchel-fast-1000"), .atLeast(6))
        add("fast_alone", "— a process for each source", multiple("satchel-fast-1"), .atLeast(5))
        if let http = multiple("satchel-http-fast"), let batch = multiple("satchel-fast-1") {
            add(
                "http", "— over HTTP, in terms of a process for each source", zip(http, batch).map { $0 / $1 },
                .atLeast(0.95))
        }
        if let more = comparison["satchel-fast-1"]?["cpu_more"]?.median,
            let http = comparison["satchel-http-fast"]?["cpu"]
        {
            add(
                "http_warm", "— over HTTP, in terms of one source more of a batch, whose start isn't in it",
                http.samples.map { more / $0 }, nil)
        }
        add("standard_shared", "— at full quality, shared processes", multiple("satchel-standard-1000"), .atLeast(4.5))
        add("standard_alone", "— at full quality, a process for each source", multiple("satchel-standard-1"), nil)
        if let fast = quality("satchel-fast-1000"), let full = quality("full-decode") {
            add("fast_loss", "— PSNR of fast over that of a full decode", [fast - full], .atLeast(-0.7), .decibels)
        }
        if let standard = quality("satchel-standard-1000"), let full = quality("full-decode") {
            add("standard_loss", "— PSNR at full quality over that of a full decode", [standard - full], nil, .decibels)
        }
        // `best` is libvips alone: what our own way through a JPEG's planes saves, and what it costs.
        if let best = comparison["satchel-best-1000"]?["cpu"]?.samples {
            for (speed, title) in [("standard", "full quality"), ("fast", "fast")] {
                let own = comparison["satchel-\(speed)-1000"]?["cpu"]?.samples ?? []
                add("best_\(speed)", "— CPU of best, in terms of \(title)", zip(best, own).map { $0 / $1 }, nil)
            }
        }
        if let best = quality("satchel-best-1000"), let standard = quality("satchel-standard-1000") {
            add("best_gain", "— PSNR of best over that at full quality", [best - standard], nil, .decibels)
        }
        if let rate = comparison["satchel-fast-1000"]?["rate"]?.samples {
            // What the best of the peers does with all processors.
            let best = comparison.rows.filter { $0.role == .peer }.compactMap { $0["rate"]?.median }.max() ?? 0
            if best > 0 { add("rate_ratio", "— rate in terms of the best peer's", rate.map { $0 / best }, nil) }
        }
        return found
    }

    private func plots(_ comparison: Comparison) -> [Plot] {
        let what = "\(set.photographs) to 1024 and 300 px"
        return [
            Plot(
                "photographs-rate", "Photographs a second, \(Machine.usableCores.count) cores: \(what)", of: comparison,
                column: "rate", axis: Plot.Axis(label: "photographs per second")),
            Plot(
                "photographs-cpu", "CPU per photograph: \(what)", of: comparison, column: "cpu",
                axis: Plot.Axis(label: "ms of CPU per photograph"), lessIsBetter: true),
        ]
    }
}

extension Contender {
    /// Somebody who isn't there.
    static func absent(_ name: String, _ title: String, _ reason: String) -> Contender {
        Contender(name, title, .peer) { _, _ in throw CommandFailure(command: [name], reason: reason) }
    }
}

extension Result {
    var failureText: String {
        if case .failure(let error) = self { return "\(error)" }
        return ""
    }
}
