import Foundation

/// Satchel in the forms in which it makes small photographs.
struct SatchelStills: Sendable {
    let task: StillTask
    let workplace: Workplace
    /// A file of profiles, one for each speed.
    private let profiles: String

    enum Speed: String {
        case best, standard, fast
    }

    init(_ task: StillTask, _ workplace: Workplace) throws {
        self.task = task
        self.workplace = workplace
        let url = workplace.directory.appending(path: "stills.yaml")
        let text = """
            profiles:
              standard:
                deadline: null
                thumbnail: {side: \(task.sizes[1]), fit: inside, cap: 10000000, quality: \(task.quality)}
                image:
                  types: [image/jpeg]
                  longest_side: \(task.sizes[0])
                  aim: null
                  cap: 20000000
                  quality: \(task.quality)
                  minimum_quality: \(task.quality)
              fast:
                based_on: standard
                speed: fast
              best:
                based_on: standard
                speed: best
            """
        try Data(text.utf8).write(to: url)
        profiles = url.path(percentEncoded: false)
    }

    /// `satchel batch`, its start and its end included.
    func batch(sourcesPerProcess: Int, _ speed: Speed) -> Contender {
        let form = sourcesPerProcess == 1 ? "a process each" : "shared processes"
        var contender = Contender(
            "satchel-\(speed.rawValue)-\(sourcesPerProcess)", "Satchel, \(speed.rawValue), \(form)", .own,
            startsOnce: true
        ) { sources, _ in
            try command(sources, sourcesPerProcess, speed).run()
        }
        contender.makeToLook = { sources, place in
            var command = command(sources, sourcesPerProcess, speed)
            command.arguments += ["--output", place.path(percentEncoded: false)]
            let usage = try command.run()
            for source in sources {
                let name = URL(filePath: source).lastPathComponent
                for (size, role) in zip(task.sizes, ["main", "thumbnail"]) {
                    try FileManager.default.moveItem(
                        at: place.appending(path: "\(name).\(role).jpg"),
                        to: URL(filePath: task.output(of: source, size, in: place)))
                }
            }
            return usage
        }
        return contender
    }

    /// Why not both sizes are made as JPEG of some sources, by path.
    func refusals(of sources: [String]) throws -> [String: String] {
        try BatchReport(command(sources, 1000, .standard), workplace).refusals(
            of: sources, wanted: ["main": "image/jpeg", "thumbnail": "image/jpeg"])
    }

    func command(_ sources: [String], _ sourcesPerProcess: Int, _ speed: Speed) -> Command {
        let directories = Set(sources.map { URL(filePath: $0).deletingLastPathComponent().path(percentEncoded: false) })
        return workplace.satchel(
            ["batch"] + directories.sorted() + [
                "--profiles", profiles, "--profile", speed.rawValue, "--sources-per-process", "\(sourcesPerProcess)",
            ])
    }

    /// A running `satchel serve`, to which a client for each processor uploads the sources as raw bodies of jobs. Its
    /// start isn't counted.
    func service(_ service: RunningService, _ speed: Speed) -> Contender {
        var contender = Contender(
            "satchel-http-\(speed.rawValue)", "Satchel, \(speed.rawValue), over HTTP", .own
        ) { sources, place in
            try submit(sources, to: service, speed, place: nil)
        }
        contender.makeToLook = { sources, place in try submit(sources, to: service, speed, place: place) }
        contender.services = [service.process]
        return contender
    }

    var serviceSettings: [String] { ["--set", "profiles=\(profiles)"] }

    private struct Job: Decodable {
        struct Attachment: Decodable {
            struct Rendition: Decodable {
                var url: String?
            }
            var renditions: [String: Rendition]
        }
        var attachments: [Attachment]
    }

    /// - Parameter place: Where what was made is put; nil where nobody looks at it.
    private func submit(
        _ sources: [String], to service: RunningService, _ speed: Speed, place: URL?
    ) throws -> Usage {
        // No two submissions may be alike, in this round or another; decoders pass over what follows the end.
        let bodies = try sources.enumerated().map { index, source in
            try Data(contentsOf: URL(filePath: source)).unlike(index)
        }
        let before = ProcessTree(of: service.process).cpu
        let start = ContinuousClock.now
        let next = Counter()
        try Clients.run(Machine.usableCores.count) { _ in
            let connection = HTTPConnection(port: service.port)
            while case let index = next.next(), index < sources.count {
                let answer = try service.deliver(
                    bodies[index], type: "image/jpeg", over: connection, profile: speed.rawValue)
                guard let place else { continue }
                let job = try JSONDecoder().decode(Job.self, from: answer.body)
                for (size, role) in zip(task.sizes, ["main", "thumbnail"]) {
                    guard let text = job.attachments.first?.renditions[role]?.url, let url = URL(string: text) else {
                        throw CommandFailure(command: ["POST", "/v1/jobs"], reason: "made no \(role)")
                    }
                    let content = try connection.send("GET", url.path())
                    try content.body.write(to: URL(filePath: task.output(of: sources[index], size, in: place)))
                }
            }
        }
        var usage = Usage.none
        usage.wall = (ContinuousClock.now - start) / .seconds(1)
        usage.cpu = ProcessTree(of: service.process).cpu - before
        return usage
    }
}
