import Foundation

extension Part {
    static let clips = Part(
        "clips", "copy trims, posters, transcodes and a look at videos and recordings: Satchel, peers and the floor"
    ) { run in
        try ClipContests(run).measure()
    }
}

/// What is made of 12 videos of a minute and 12 recordings of three, by whom, and what it costs.
private struct ClipContests {
    let run: RunContext
    let satchel: SatchelClips
    let judge: ClipJudge

    init(_ run: RunContext) throws {
        self.run = run
        satchel = try SatchelClips(run.workplace)
        judge = ClipJudge(workplace: run.workplace)
    }

    func measure() throws -> Findings {
        let films = (try run.inputs.films(group: 0).files, try run.inputs.films(group: 1).files)
        let trims = try contest(
            .trim("mp4"), "trims-video", "10 s of a video of a minute, copied", "video", films,
            [
                ClipPeers.ffmpeg(.trim("mp4")), ClipPeers.pyav(.trim("mp4"), run),
                ClipPeers.remux(.trim("mp4"), run.workplace),
            ])
        var probeResult = Findings(comparisons: [trims])
        probeResult.measurements += ratios(
            trims, "trims_video", "10 s of a video, copied: CPU of ffmpeg, in terms of Satchel's", .atLeast(2.5))
        for type in ["m4a", "mp3", "wav"] {
            let task = ClipTask.trim(type)
            let sources = (
                try run.inputs.recordings(type, group: 0).files, try run.inputs.recordings(type, group: 1).files
            )
            let trims = try contest(
                task, "trims-\(type)", "10 s of a recording of three minutes, \(type), copied", "recording", sources,
                [ClipPeers.ffmpeg(task), ClipPeers.pyav(task, run), ClipPeers.remux(task, run.workplace)])
            probeResult.comparisons.append(trims)
            probeResult.measurements += ratios(
                trims, "trims_\(type)", "10 s of a recording, \(type), copied: CPU of ffmpeg, in terms of Satchel's",
                .atLeast(7))
        }
        let posters = try contest(
            .poster, "posters", "A poster of 640 pixels of a video of a minute", "video", films,
            [ClipPeers.ffmpeg(.poster), ClipPeers.ffmpegChoosing(), ClipPeers.pyav(.poster, run)])
        probeResult.comparisons.append(posters)
        probeResult.measurements += self.posters(posters, beside: trims)
        let looks = try contest(
            .inspect, "inspections", "A look at a video of a minute", "video", films,
            [ClipPeers.ffprobe(), ClipPeers.pyav(.inspect, run)], measure: "ffprobe")
        probeResult.comparisons.append(looks)
        probeResult.measurements += ratios(
            looks, "inspections", "A look at a video: CPU of ffprobe, in terms of Satchel's", .atLeast(3))
        let transcodes = try contest(
            .transcode, "transcodes", "10 s of a video of a minute to 640 pixels, H.264", "video",
            (Array(films.0.prefix(transcoded)), Array(films.1.prefix(transcoded))),
            [ClipPeers.ffmpeg(.transcode), encodingPyAV])
        probeResult.comparisons.append(transcodes)
        for (form, title) in Self.forms {
            guard let own = transcodes[form]?["cpu_more"], let peer = transcodes["ffmpeg"]?["cpu"] else { continue }
            probeResult.measurements.append(
                Measurement(
                    "clips.transcodes_\(form)",
                    "10 s of a video to 640 pixels, \(title): CPU of one more in terms of ffmpeg's", .ratio,
                    zip(own.samples, peer.samples).map { $0 / $1 }, target: .atMost(1.05)))
        }
        return probeResult
    }

    /// One takes longer than a hundred copies.
    private var transcoded: Int { run.isFull ? 6 : 2 }

    /// What one more costs it is known from the other tasks: next to nothing less.
    private var encodingPyAV: Contender {
        var contender = ClipPeers.pyav(.transcode, run)
        contender.startsOnce = run.isFull
        return contender
    }

    private static let forms = [("satchel-1000", "shared processes"), ("satchel-1", "a process each")]

    private func contest(
        _ task: ClipTask, _ name: String, _ title: String, _ item: String, _ sources: (first: [String], more: [String]),
        _ peers: [Contender], measure: String = "ffmpeg"
    ) throws -> Comparison {
        try Contest(
            name: name, title: title, item: item,
            contenders: [1000, 1].map {
                task.type == nil ? satchel.inspect(sourcesPerProcess: $0) : satchel.batch(sourcesPerProcess: $0, task)
            } + peers,
            sources: sources.first, moreSources: sources.more, measure: measure, rounds: run.rounds,
            workplace: run.workplace, lookColumns: ClipJudge.columns(task)
        ).hold { contender, place in
            try judge.figures(task, contender.role == .floor ? [] : sources.first, in: place)
        }
    }

    /// What one more costs the peer, in terms of what it costs Satchel.
    private func ratios(_ comparison: Comparison, _ name: String, _ title: String, _ target: Target) -> [Measurement] {
        let peer = comparison["ffmpeg"]?["cpu"] ?? comparison["ffprobe"]?["cpu"]
        return Self.forms.enumerated().compactMap { index, form in
            guard let own = comparison[form.0]?["cpu_more"], let peer else { return nil }
            return Measurement(
                "clips.\(name)_\(form.0)", index == 0 ? "\(title), \(form.1)" : "— \(form.1)", .ratio,
                zip(peer.samples, own.samples).map { $0 / $1 }, target: index == 0 ? target : nil)
        }
    }

    /// A batch makes the copied part as well; what the poster costs is what it costs more with it.
    private func posters(_ posters: Comparison, beside trims: Comparison) -> [Measurement] {
        func ratio(_ name: String, _ title: String, to peer: String, form: String, target: Target?) -> Measurement? {
            guard let both = posters[form]?["cpu_more"], let trim = trims[form]?["cpu_more"],
                let peer = posters[peer]?["cpu"]
            else { return nil }
            return Measurement(
                "clips.\(name)", title, .ratio,
                zip(peer.samples, zip(both.samples, trim.samples)).map { $0 / max(0.1, $1.0 - $1.1) }, target: target)
        }
        let title = "A poster of 640 pixels beside a copy: CPU of ffmpeg, in terms of what Satchel takes more"
        return [
            ratio(
                "posters_satchel-1000", "\(title), shared processes", to: "ffmpeg", form: "satchel-1000",
                target: .atLeast(2)),
            ratio("posters_satchel-1", "— a process each", to: "ffmpeg", form: "satchel-1", target: nil),
            ratio(
                "posters_chosen", "— of ffmpeg where it too chooses among keyframes, shared processes",
                to: "ffmpeg-choosing", form: "satchel-1000", target: nil),
        ].compactMap(\.self)
    }
}
