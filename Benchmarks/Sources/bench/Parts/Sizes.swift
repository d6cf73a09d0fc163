import Foundation

extension Part {
    static let sizes = Part("sizes", "CPU of a photograph by its megapixels", isInShortRun: false) { run in
        let task = StillTask.photographs
        let stills = try SatchelStills(task, run.workplace)
        let libraries = StillPeers.libraries(task, run).filter { ["pillow-simd", "pyvips-forced"].contains($0.name) }
        let curve = CostCurve(
            name: "sizes",
            contenders: [
                stills.batch(sourcesPerProcess: 1000, .fast), stills.batch(sourcesPerProcess: 1, .fast),
                stills.batch(sourcesPerProcess: 1, .standard), StillPeers.vipsthumbnail(task, run),
            ] + libraries + [StillPeers.floor(task, run.workplace)],
            points: try [1, 3, 6, 12, 24].map { megapixels in
                let width = Int((Double(megapixels) * 1e6 * 4 / 3).squareRoot() / 16) * 16
                return CostCurve.Point(
                    x: Double(megapixels), some: try run.inputs.photographs(width: width, 4, group: 0).files,
                    more: try run.inputs.photographs(width: width, 8, group: 1).files)
            }, rounds: run.rounds, workplace: run.workplace)
        return Findings(
            curve, title: "A photograph to 1024 and 300 px", axis: Plot.Axis(label: "megapixels of the photograph"),
            costAxis: Plot.Axis(label: "ms of CPU for one photograph more"), unit: "megapixels")
    }

    static let frames = Part("frames", "CPU of a GIF by its frames", isInShortRun: false) { run in
        let task = AnimationTask()
        let curve = CostCurve(
            name: "frames",
            contenders: [
                try task.satchel(run.workplace, sourcesPerProcess: 1), task.gifsicle(), task.vipsthumbnail(run),
            ],
            points: try [15, 30, 60, 120].map { frames in
                CostCurve.Point(
                    x: Double(frames), some: try run.inputs.loops(frames: frames, 2, group: 0).files,
                    more: try run.inputs.loops(frames: frames, 4, group: 1).files)
            }, rounds: run.rounds, workplace: run.workplace)
        return Findings(
            curve, title: "A GIF of 480 × 360 pixels to 320", axis: Plot.Axis(label: "frames of the GIF"),
            costAxis: Plot.Axis(label: "ms of CPU for one GIF more"), unit: "frames")
    }
}
