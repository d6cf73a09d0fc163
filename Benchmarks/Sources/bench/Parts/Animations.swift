import Foundation

extension Part {
    static let animations = Part("animations", "GIFs to 320 pixels: CPU, bytes and fidelity") {
        run in
        try AnimationContest(run).measure()
    }
}

/// GIFs to 320 pixels: what it costs whom, how many bytes come out, and how near their frames come to full colour.
private struct AnimationContest {
    private let run: RunContext
    private let task = AnimationTask()
    private let set: SourceSet

    init(_ run: RunContext) throws {
        self.run = run
        let drawings = run.options.peerFiles.appending(path: "drawings.py")
        set = try run.sources(
            .animations, synthetic: { try run.inputs.animations(run.isFull ? 24 : 8, drawings: drawings) }
        ) { [task] in
            try task.refusals(of: $0, run.workplace)
        }
    }

    func measure() throws -> Findings {
        let sources = set.files
        let judge = AnimationJudge(run.options, run.workplace)
        // By contender, for each source.
        var verdicts: [String: [AnimationJudge.Verdict]] = [:]
        let comparison = try Contest(
            name: "animations", title: "\(set.animations) to 320 pixels", item: "GIF",
            contenders: [
                try task.satchel(run.workplace, sourcesPerProcess: 1000),
                try task.satchel(run.workplace, sourcesPerProcess: 1),
                try task.satchel(run.workplace, .best, sourcesPerProcess: 1000), task.gifsicle(),
                task.vipsthumbnail(run),
                task.imageMagick(), task.graphicsMagick(), task.ffmpeg(), task.pillow(run),
            ], sources: sources, measure: "gifsicle", rounds: run.rounds, workplace: run.workplace,
            lookColumns: [
                Comparison.Column(name: "bytes", title: "bytes out", unit: .kilobytes),
                Comparison.Column(name: "psnr", title: "PSNR to full colour", unit: .decibels),
                Comparison.Column(name: "psnr_least", title: "— of the worst frame", unit: .decibels),
            ]
        ).hold { contender, place in
            let found = try judge.verdicts(sources.map { ($0, task.output(of: $0, in: place)) }, side: task.side)
            verdicts[contender.name] = found
            return [
                Comparison.Figure(
                    column: "bytes",
                    spread: Spread([Quotient.of(found.reduce(0) { $0 + $1.bytes }, by: found.count * 1000)])),
                Comparison.Figure(column: "psnr", spread: Spread([Quotient.mean(found.map(\.decibels))])),
                Comparison.Figure(
                    column: "psnr_least", spread: Spread([found.map(\.leastDecibels).reduce(.infinity, min)])),
            ]
        }
        return Findings(
            measurements(comparison, verdicts), comparisons: [comparison],
            plots: [
                Plot(
                    "animations-cpu", "CPU per GIF: \(set.animations) to 320 px", of: comparison, column: "cpu",
                    axis: Plot.Axis(label: "ms of CPU per GIF", isLogarithmic: true), lessIsBetter: true)
            ], notes: set.notes)
    }

    private func measurements(
        _ comparison: Comparison, _ verdicts: [String: [AnimationJudge.Verdict]]
    ) -> [Measurement] {
        var found: [Measurement] = []
        for (form, title) in [("1", "a process each"), ("1000", "shared processes")] {
            if let multiple = comparison["satchel-\(form)"]?["multiple"]?.samples {
                found.append(
                    Measurement(
                        "animations.cpu_\(form)", "GIF to 320 pixels, \(title): CPU in terms of gifsicle's", .ratio,
                        multiple.map { Quotient.of(1, by: $0) }, target: .atMost(1)))
            }
        }
        if let own = verdicts["satchel-1"] {
            for (peer, targets) in [("gifsicle", true), ("vipsthumbnail", false)] {
                guard let theirs = verdicts[peer] else { continue }
                let total = Quotient.of(own.reduce(0) { $0 + $1.bytes }, by: theirs.reduce(0) { $0 + $1.bytes })
                found.append(
                    Measurement(
                        "animations.bytes_\(peer)", "— bytes of all, in terms of \(peer)'s", .ratio, [total],
                        target: targets ? .atMost(1) : nil))
                found.append(
                    Measurement(
                        "animations.psnr_\(peer)", "— PSNR to full colour over \(peer)'s, by source", .decibels,
                        zip(own, theirs).map { $0.decibels - $1.decibels }, target: targets ? .atLeast(0) : nil))
            }
        }
        if let best = verdicts["satchel-best-1000"], let own = verdicts["satchel-1000"] {
            found.append(
                Measurement(
                    "animations.psnr_best", "— PSNR of best over ours, by source", .decibels,
                    zip(best, own).map { $0.decibels - $1.decibels }))
        }
        return found
    }
}
