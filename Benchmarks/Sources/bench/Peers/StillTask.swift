import Foundation

/// What is made of every photograph: JPEGs in several sizes, upright, without metadata.
struct StillTask: Sendable {
    /// Pixels of the longest side, the largest first.
    var sizes: [Int]
    var quality: Int

    static let photographs = StillTask(sizes: [1024, 300], quality: 80)

    /// Where a contender puts what it makes of a source.
    func output(of source: String, _ size: Int, in place: URL) -> String {
        place.appending(path: "\(URL(filePath: source).lastPathComponent)-\(size).jpg").path(percentEncoded: false)
    }

    fileprivate var sizeList: String { sizes.map(String.init).joined(separator: ",") }
}

/// The peers that make small photographs of large ones, each at its best settings.
enum StillPeers {
    /// Called for each source and size, as people call it; one thread, because that costs it the least.
    static func vipsthumbnail(_ task: StillTask, _ run: RunContext) -> Contender {
        .calls("vipsthumbnail", "vipsthumbnail, \(run.libvips), for each size") { source, place in
            vipsthumbnailCalls(task, source, place)
        }
    }

    static func vipsthumbnailCalls(_ task: StillTask, _ source: String, _ place: URL) -> [Command] {
        task.sizes.map { size in
            Command(
                "vipsthumbnail",
                [
                    source, "--size", "\(size)x\(size)>", "-o",
                    task.output(of: source, size, in: place) + "[Q=\(task.quality),strip]",
                ], environment: ["VIPS_CONCURRENCY": "1"])
        }
    }

    /// One call for all sizes, scaled while decoding.
    static func imageMagick(_ task: StillTask) -> Contender {
        .calls("imagemagick", "ImageMagick, one decode") { source, place in
            let largest = task.sizes[0]
            var arguments = [
                "-limit", "thread", "1", "-define", "jpeg:size=\(largest)x\(largest)", source, "-auto-orient",
            ]
            for size in task.sizes {
                arguments += [
                    "-thumbnail", "\(size)x\(size)>", "-quality", "\(task.quality)", "-sampling-factor", "4:2:0",
                ]
                let output = task.output(of: source, size, in: place)
                arguments += size == task.sizes.last ? [output] : ["-write", output]
            }
            return [Command(Tools.imageMagick, arguments)]
        }
    }

    static func graphicsMagick(_ task: StillTask) -> Contender {
        .calls("graphicsmagick", "GraphicsMagick, one decode") { source, place in
            let largest = task.sizes[0]
            // It has no way to scale further what it has written and write again but '-write'.
            var arguments = [
                "convert", "-limit", "threads", "1", "-size", "\(largest)x\(largest)", source, "-auto-orient",
            ]
            arguments += ["+profile", "*"]
            for size in task.sizes {
                arguments += [
                    "-thumbnail", "\(size)x\(size)>", "-quality", "\(task.quality)", "-sampling-factor", "2x2",
                ]
                let output = task.output(of: source, size, in: place)
                arguments += size == task.sizes.last ? [output] : ["-write", output]
            }
            return [Command("gm", arguments)]
        }
    }

    /// Python libraries, one process for all sources; `stills.py` says how.
    static func libraries(_ task: StillTask, _ run: RunContext) -> [Contender] {
        let script = run.options.peerFiles.appending(path: "stills.py").path(percentEncoded: false)
        let newest = run.version(of: "pyvips-binary").map { "libvips \($0)" } ?? "newest libvips"
        let libraries: [(name: String, title: String, environment: String, library: String)] = [
            ("pyvips", "pyvips, \(run.libvips), one decode", "system", "pyvips"),
            ("pyvips-forced", "pyvips, \(run.libvips), forced shrink on load", "system", "pyvips-forced"),
            ("pyvips-newest", "pyvips, \(newest)", "newest", "pyvips"),
            ("pyvips-newest-forced", "pyvips, \(newest), forced", "newest", "pyvips-forced"),
            ("pillow", "Pillow, draft", "system", "pillow"),
            ("full-decode", "Pillow, full decode, Lanczos 3", "system", "pillow-full"),
            ("pillow-simd", "Pillow-SIMD, draft", "simd", "pillow"),
        ]
        return libraries.map { entry in
            let environment = run.environment(entry.environment)
            return .library(entry.name, entry.title) { sources, place in
                guard environment.isThere else {
                    throw CommandFailure(command: [entry.name], reason: environment.absence)
                }
                return Command(
                    environment.python,
                    [script, entry.library, place.path(percentEncoded: false), "\(task.quality)", task.sizeList]
                        + sources)
            }
        }
    }

    /// What decoding and encoding alone cost, by `jpeg-floor`: neither a program's start nor scaling is counted.
    static func floor(_ task: StillTask, _ workplace: Workplace) -> Contender {
        Contender("jpeg-floor", "libjpeg alone: decode, encode", .floor) { sources, place in
            let answer = workplace.scratch.appending(path: "floor-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: answer) }
            var command = Command(
                workplace.jpegFloor,
                [place.path(percentEncoded: false), "\(task.quality)", task.sizeList] + sources)
            command.output = answer
            var usage = try command.run()
            let lines = try String(contentsOf: answer, encoding: .utf8).split(separator: "\n")
            let times = lines.map { $0.split(separator: " ").compactMap { Double($0) } }
            guard times.count == sources.count, times.allSatisfy({ $0.count == 2 }) else {
                throw CommandFailure(command: command.line, reason: "measured \(times.count) sources")
            }
            usage.cpu = times.joined().reduce(0, +) / 1000
            // One of them, on each processor.
            usage.wall = usage.cpu / Double(Machine.usableCores.count)
            return usage
        }
    }
}
