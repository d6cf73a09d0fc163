import Foundation

/// What is made of every clip.
struct ClipTask: Sendable {
    /// Of a profile, and for `clips.py`.
    var name: String
    /// Of what comes out; nil where nothing does.
    var type: String?
    /// Pixels of the longest side; nil where there is no picture or it stays as it is.
    var side: Int?

    /// Seconds of a part, from the beginning.
    static let seconds = 10

    static func trim(_ type: String) -> ClipTask { ClipTask(name: "trim", type: type) }
    static let poster = ClipTask(name: "poster", type: "jpg", side: 640)
    static let transcode = ClipTask(name: "transcode", type: "mp4", side: 640)
    static let inspect = ClipTask(name: "inspect")

    /// Where a contender puts what it makes of a source.
    func output(of source: String, in place: URL) -> String {
        place.appending(path: "\(URL(filePath: source).lastPathComponent).\(name).\(type ?? "txt")")
            .path(percentEncoded: false)
    }
}

/// Satchel in the forms in which it takes clips.
struct SatchelClips: Sendable {
    let workplace: Workplace
    private let profiles: String

    init(_ workplace: Workplace) throws {
        self.workplace = workplace
        let url = workplace.directory.appending(path: "clips.yaml")
        let limits = "cap: 1000000000, aim: null, maximum_duration: \(ClipTask.seconds), when_longer: trim"
        let text = """
            profiles:
              trim:
                deadline: null
                thumbnail: null
                video: {\(limits), poster: null}
                audio: {\(limits), types: [audio/mp4, audio/mpeg, audio/wav], waveform: null}
              poster:
                based_on: trim
                video: {\(limits), poster: {longest_side: 640, quality: 80, cap: 10000000}}
              transcode:
                based_on: trim
                video: {\(limits), poster: null, longest_side: 640, rate_factor: 23}
            """
        try Data(text.utf8).write(to: url)
        profiles = url.path(percentEncoded: false)
    }

    /// `satchel batch`, its start and its end included. A placeholder is made of every clip, and everything is hashed,
    /// synced and recorded.
    func batch(sourcesPerProcess: Int, _ task: ClipTask) -> Contender {
        let form = sourcesPerProcess == 1 ? "a process each" : "shared processes"
        var contender = Contender("satchel-\(sourcesPerProcess)", "Satchel, \(form)", .own, startsOnce: true) {
            sources, _ in
            try command(sources, sourcesPerProcess, task).run()
        }
        guard let type = task.type else { return contender }
        contender.makeToLook = { sources, place in
            var command = command(sources, sourcesPerProcess, task)
            command.arguments += ["--output", place.path(percentEncoded: false)]
            let usage = try command.run()
            let role = task.name == "poster" ? "poster" : "main"
            for source in sources {
                let name = URL(filePath: source).lastPathComponent
                let made = place.appending(path: "\(name).\(role).\(type)")
                let wanted = URL(filePath: task.output(of: source, in: place))
                if made.lastPathComponent != wanted.lastPathComponent {
                    try FileManager.default.moveItem(at: made, to: wanted)
                }
            }
            return usage
        }
        return contender
    }

    /// `satchel inspect`, its start and its end included, with all that it tells, what would be made as well.
    func inspect(sourcesPerProcess: Int) -> Contender {
        let form = sourcesPerProcess == 1 ? "a process each" : "shared processes"
        return Contender("satchel-\(sourcesPerProcess)", "Satchel, \(form)", .own, startsOnce: true) { sources, place in
            let answers = place.appending(path: "answers.jsonl")
            var command = workplace.satchel(
                ["inspect", "--format", "jsonl", "--profiles", profiles, "--profile", ClipTask.trim("mp4").name]
                    + ["--sources-per-process", "\(sourcesPerProcess)"] + sources)
            command.output = answers
            let usage = try command.run()
            let lines = try String(contentsOf: answers, encoding: .utf8).split(separator: "\n")
            for (source, line) in zip(sources, lines) {
                try Data(line.utf8).write(to: URL(filePath: ClipTask.inspect.output(of: source, in: place)))
            }
            return usage
        }
    }

    private func command(_ sources: [String], _ sourcesPerProcess: Int, _ task: ClipTask) -> Command {
        let directories = Set(sources.map { URL(filePath: $0).deletingLastPathComponent().path(percentEncoded: false) })
        let names = Set(sources.map { URL(filePath: $0).lastPathComponent })
        return workplace.satchel(
            ["batch"] + directories.sorted() + names.sorted().flatMap { ["--include", $0] } + [
                "--profiles", profiles, "--profile", task.name, "--sources-per-process", "\(sourcesPerProcess)",
            ])
    }
}

/// Those who do the same to clips, each at its best settings.
enum ClipPeers {
    /// Called for each source, as people call it.
    static func ffmpeg(_ task: ClipTask) -> Contender {
        .calls("ffmpeg", "ffmpeg") { source, place in
            let input = ["-v", "error", "-nostdin", "-y", "-ss", "0"]
            let part = ["-t", "\(ClipTask.seconds)", "-i", source]
            let output = task.output(of: source, in: place)
            let side = task.side ?? 0
            switch task.name {
            case "poster":
                // Its first keyframe, without a search for a better one.
                return [
                    Command(
                        "ffmpeg",
                        input + ["-i", source, "-frames:v", "1", "-vf", "scale=\(side):-2", "-q:v", "4", output])
                ]
            case "transcode":
                return [
                    Command(
                        "ffmpeg",
                        input + ["-threads", "1"] + part + [
                            "-vf", "scale=\(side):-2", "-c:v", "libx264", "-preset", "veryfast", "-crf", "23",
                            "-profile:v", "high", "-g", "100", "-threads", "1", "-filter_threads", "1", "-c:a", "copy",
                            output,
                        ])
                ]
            default: return [Command("ffmpeg", input + part + ["-map", "0", "-c", "copy", output])]
            }
        }
    }

    /// Looks at the keyframes of the part and takes the one that is most like all of them.
    static func ffmpegChoosing() -> Contender {
        .calls("ffmpeg-choosing", "ffmpeg, of 8 keyframes by `thumbnail`") { source, place in
            let task = ClipTask.poster
            return [
                Command(
                    "ffmpeg",
                    [
                        "-v", "error", "-nostdin", "-y", "-skip_frame", "nokey", "-t", "\(ClipTask.seconds)", "-i",
                        source,
                        "-vf", "thumbnail=n=8,scale=\(task.side ?? 0):-2", "-frames:v", "1", "-q:v", "4",
                        task.output(of: source, in: place),
                    ])
            ]
        }
    }

    static func ffprobe() -> Contender {
        .calls("ffprobe", "ffprobe") { source, place in
            var command = Command("ffprobe", ["-v", "error", "-show_format", "-show_streams", "-of", "json", source])
            command.output = URL(filePath: ClipTask.inspect.output(of: source, in: place))
            return [command]
        }
    }

    /// One process for all sources; `clips.py` says how.
    static func pyav(_ task: ClipTask, _ run: RunContext) -> Contender {
        let script = run.options.peerFiles.appending(path: "clips.py").path(percentEncoded: false)
        let environment = run.environment("system")
        return .library("pyav", "PyAV") { sources, place in
            guard environment.isThere else { throw CommandFailure(command: ["pyav"], reason: environment.absence) }
            let outputs = sources.flatMap { [$0, task.output(of: $0, in: place)] }
            return Command(
                environment.python, [script, task.name, "\(ClipTask.seconds)", "\(task.side ?? 0)"] + outputs)
        }
    }

    /// Reading and writing the packets alone, by `remux`: no program's start is counted. What it makes of the last source
    /// is left.
    static func remux(_ task: ClipTask, _ workplace: Workplace) -> Contender {
        Contender("remux", "libavformat alone: read, write", .floor) { sources, place in
            let answers = try InnerPiece(
                workplace.remux,
                ["0", "\(ClipTask.seconds)", task.output(of: "last", in: place)] + sources
            ).lines(sources.count, in: workplace)
            var usage = Usage.none
            for line in answers {
                guard line.count == 3, let cpu = Double(line[1]) else {
                    throw CommandFailure(command: ["remux"], reason: "said '\(line.joined(separator: " "))'")
                }
                usage.cpu += cpu / 1000
            }
            usage.wall = usage.cpu / Double(Machine.usableCores.count)
            return usage
        }
    }
}
