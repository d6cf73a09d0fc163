import Foundation

/// Those who make small GIFs of large ones.
struct AnimationTask: Sendable {
    /// Pixels of the longest side.
    var side = 320

    func output(of source: String, in place: URL) -> String {
        place.appending(path: URL(filePath: source).lastPathComponent).path(percentEncoded: false)
    }

    func gifsicle() -> Contender {
        .calls("gifsicle", "gifsicle --resize-method=mix -O2") { source, place in
            [
                Command(
                    "gifsicle",
                    [
                        "--no-warnings", "--resize-method=mix", "-O2", "--resize-fit", "\(side)x\(side)", "-o",
                        output(of: source, in: place), source,
                    ])
            ]
        }
    }

    func vipsthumbnail(_ run: RunContext) -> Contender {
        .calls("vipsthumbnail", "vipsthumbnail, \(run.libvips)") { source, place in
            [
                Command(
                    "vipsthumbnail",
                    ["\(source)[n=-1]", "--size", "\(side)x\(side)>", "-o", output(of: source, in: place)],
                    environment: ["VIPS_CONCURRENCY": "1"])
            ]
        }
    }

    func imageMagick() -> Contender {
        .calls("imagemagick", "ImageMagick -coalesce -layers optimize") { source, place in
            [
                Command(
                    Tools.imageMagick,
                    [
                        "-limit", "thread", "1", source, "-coalesce", "-resize", "\(side)x\(side)>", "-layers",
                        "optimize", output(of: source, in: place),
                    ])
            ]
        }
    }

    func graphicsMagick() -> Contender {
        .calls("graphicsmagick", "GraphicsMagick -coalesce") { source, place in
            [
                Command(
                    "gm",
                    [
                        "convert", "-limit", "threads", "1", source, "-coalesce", "-resize", "\(side)x\(side)>",
                        output(of: source, in: place),
                    ])
            ]
        }
    }

    /// One palette for all frames, as everybody advises.
    func ffmpeg() -> Contender {
        .calls("ffmpeg", "ffmpeg palettegen, paletteuse") { source, place in
            let scale = "scale=\(side):\(side):force_original_aspect_ratio=decrease:flags=lanczos"
            return [
                Command(
                    "ffmpeg",
                    [
                        "-v", "error", "-y", "-threads", "1", "-i", source, "-fps_mode", "passthrough",
                        "-filter_complex",
                        "\(scale),split[one][two];[one]palettegen[palette];[two][palette]paletteuse",
                        output(of: source, in: place),
                    ])
            ]
        }
    }

    func pillow(_ run: RunContext) -> Contender {
        let environment = run.environment("system")
        let script = run.options.peerFiles.appending(path: "animations.py").path(percentEncoded: false)
        return .calls("pillow", "Pillow") { source, place in
            guard environment.isThere else {
                throw CommandFailure(command: ["pillow"], reason: environment.absence)
            }
            return [Command(environment.python, [script, source, output(of: source, in: place), "\(side)"])]
        }
    }

    /// Why no GIF is made of some sources, by path.
    func refusals(of sources: [String], _ workplace: Workplace) throws -> [String: String] {
        let batch = batch(sources, try profiles(workplace), .standard, workplace, sourcesPerProcess: 1000)
        return try BatchReport(batch, workplace).refusals(of: sources, wanted: ["main": "image/gif"])
    }

    /// The path of a file of profiles.
    private func profiles(_ workplace: Workplace) throws -> String {
        let url = workplace.directory.appending(path: "animations.yaml")
        let text = """
            profiles:
              standard:
                animation: {type: image/gif, longest_side: \(side), cap: 50000000}
              best:
                based_on: standard
                speed: best
            """
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
    }

    private func batch(
        _ sources: [String], _ profiles: String, _ speed: SatchelStills.Speed, _ workplace: Workplace,
        sourcesPerProcess: Int
    ) -> Command {
        let directories = Set(sources.map { URL(filePath: $0).deletingLastPathComponent().path(percentEncoded: false) })
        return workplace.satchel(
            ["batch"] + directories.sorted() + [
                "--profiles", profiles, "--profile", speed.rawValue, "--sources-per-process",
                "\(sourcesPerProcess)",
            ])
    }

    /// `satchel batch` under a profile that makes nothing but the animation; its start and its end included.
    func satchel(
        _ workplace: Workplace, _ speed: SatchelStills.Speed = .standard, sourcesPerProcess: Int
    ) throws -> Contender {
        let profiles = try profiles(workplace)
        let form = sourcesPerProcess == 1 ? "a process each" : "shared processes"
        @Sendable func command(_ sources: [String]) -> Command {
            batch(sources, profiles, speed, workplace, sourcesPerProcess: sourcesPerProcess)
        }
        let name = (speed == .standard ? "satchel-" : "satchel-\(speed.rawValue)-") + "\(sourcesPerProcess)"
        var contender = Contender(name, "Satchel, \(speed.rawValue), \(form)", .own, startsOnce: true) { sources, _ in
            try command(sources).run()
        }
        contender.makeToLook = { sources, place in
            var command = command(sources)
            command.arguments += ["--output", place.path(percentEncoded: false)]
            let usage = try command.run()
            for source in sources {
                let name = URL(filePath: source).lastPathComponent
                try FileManager.default.moveItem(
                    at: place.appending(path: "\(name).main.gif"), to: URL(filePath: output(of: source, in: place)))
            }
            return usage
        }
        return contender
    }
}
