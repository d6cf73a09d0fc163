import SatchelCore
import CodecPool
import Foundation
import Glibc
import TestSupport
import Testing

extension Isolation {
    /// What a codec estimates from headers, beside what its process took, by the kernel's account: admission and the choice
    /// of settings under a deadline stand on it.
    @Suite struct EstimateTests {
        struct Row {
            var source: String
            var profile: String
            var kind: MediaKind
            var estimate: Estimate
            var cpuSeconds: Double
            var peakMemory: Int64
        }

        /// How far processor time may be from its estimate, either way: the codec's own `EffortChoice.uncertainty`.
        private static let factor = 3.0
        /// Seconds that a process takes whatever it works on: forking, confinement, identifying, the first touch of everything.
        /// Without optimisation the hashes and the messages take tenths of a second besides.
        private static let rest = 0.25

        @Test(.inCheck("decodes every sample with several profiles"))
        func `no source takes more memory than was estimated, and few far more or less time`() async throws {
            let scratch = try Scratch()
            let samples = try MediaManifest.load().files.map { (name: $0.path, url: $0.url) }
            let large = try Self.large(in: scratch.directory.url)
            var best = Profile.notification
            best.name = "best"
            best.speed = .best
            let work = [Profile.notification, .message, best].enumerated().flatMap { number, profile in
                (Sweep.of(samples, every: min(2, number + 1), from: number) + large).map { (profile, $0) }
            }
            var rows: [Row] = []
            let codecs = 2
            let configuration = CodecPoolConfiguration(
                executable: try Repository.product("satchel-codec"), codecs: codecs)
            try await withPool(configuration) { pool, _ in
                rows = try await withThrowingTaskGroup(of: [Row].self) { group in
                    for first in 0..<codecs {
                        group.addTask {
                            let scratch = try Scratch()
                            var rows: [Row] = []
                            for index in stride(from: first, to: work.count, by: codecs) {
                                let (profile, source) = work[index]
                                guard let row = try await Self.row(of: source, profile, from: pool, in: scratch.place)
                                else {
                                    continue
                                }
                                rows.append(row)
                            }
                            return rows
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
            }
            try Self.write(rows)
            for row in rows {
                let (estimate, peak) = (row.estimate.memory >> 20, row.peakMemory >> 20)
                #expect(peak <= estimate, "\(row.source) for \(row.profile): \(peak) MiB, estimated \(estimate)")
            }
            // Animations are made in Swift, which without optimisation is another thing.
            let timed = rows.filter { $0.kind != .animation }
            let astray = timed.filter {
                $0.cpuSeconds > $0.estimate.cpuSeconds * Self.factor + Self.rest
                    || $0.cpuSeconds + Self.rest < $0.estimate.cpuSeconds / Self.factor
            }
            let list = astray.map { "\($0.source) for \($0.profile): \($0.cpuSeconds) s, \($0.estimate.cpuSeconds)" }
            #expect(astray.count * 20 <= timed.count, "\(list.joined(separator: "\n"))")
            #expect(timed.count > 200)
        }

        /// Nothing of a source that comes to nothing.
        private static func row(
            of source: (name: String, url: URL), _ profile: Profile, from pool: CodecPool, in place: Place
        ) async throws -> Row? {
            let number = unsafe open(source.url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
            try #require(number >= 0)
            let outcome = await pool.run(
                owning: Descriptor(owning: number), profile: profile, within: .seconds(120), in: place)
            guard let result = outcome.result else { return nil }
            return Row(
                source: source.name, profile: profile.name, kind: result.probeResult.kind,
                estimate: result.probeResult.estimate,
                cpuSeconds: try #require(result.cpuSeconds, "\(source.name): its process has no end"),
                peakMemory: try #require(result.peakMemory))
        }

        /// What the estimates are really for.
        private static func large(in directory: URL) throws -> [(name: String, url: URL)] {
            var made: [(name: String, url: URL)] = []
            func make(_ name: String, _ tool: String, _ arguments: (String) -> [String]) throws {
                let file = directory.appending(path: name)
                let result = try Program.tool(tool).run(arguments(file.path(percentEncoded: false)))
                try #require(result.status == 0, "\(tool): \(result.errorText)")
                made.append((name, file))
            }
            let (noise, bytes) = (directory.path() + "/noise.v", directory.path() + "/bytes.v")
            for arguments in [
                ["gaussnoise", noise, "4000", "3000", "--mean", "128", "--sigma", "12"],
                ["cast", noise, bytes, "uchar"],
            ] {
                try #require(try Program.tool("vips").run(arguments).status == 0)
            }
            try make("plain.jpg", "vips") { ["jpegsave", bytes, $0] }
            try make("progressive.jpg", "vips") { ["jpegsave", bytes, $0, "--interlace"] }
            try make("plain.png", "vips") { ["pngsave", bytes, $0, "--compression", "1"] }
            try make("interlaced.png", "vips") { ["pngsave", bytes, $0, "--compression", "1", "--interlace"] }
            try make("large.webp", "vips") { ["webpsave", bytes, $0, "--effort", "0"] }
            try make("large.tiff", "vips") { ["tiffsave", bytes, $0, "--compression", "lzw"] }
            func video(_ name: String, _ source: String, _ coding: [String]) throws {
                try make(name, "ffmpeg") { ["-v", "error", "-f", "lavfi", "-i", source] + coding + [$0] }
            }
            try video("long.gif", "testsrc2=size=480x360:rate=20:duration=5", [])
            try video("large.bmp", "testsrc2=size=4000x3000:duration=1:rate=1", ["-frames:v", "1"])
            try video("large.mp4", "testsrc2=size=1920x1080:rate=25:duration=2", ["-c:v", "mpeg4", "-q:v", "4"])
            try video(
                "hevc.mp4", "testsrc2=size=3840x2160:rate=25:duration=0.5",
                ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error"])
            try video("long.flac", "anoisesrc=seed=1:duration=300", [])
            return made
        }

        /// The whole table, where `SATCHEL_ESTIMATES` names a file for it.
        private static func write(_ rows: [Row]) throws {
            guard let path = ProcessInfo.processInfo.environment["SATCHEL_ESTIMATES"] else { return }
            let lines = rows.map { row in
                [
                    row.source, row.profile, row.kind.rawValue, "\(row.estimate.memory >> 20)",
                    "\(row.peakMemory >> 20)", "\(row.estimate.cpuSeconds)", "\(row.cpuSeconds)",
                ].joined(separator: ",")
            }
            let head = "source,profile,kind,estimated MiB,peak MiB,estimated s,cpu s"
            try ([head] + lines).joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        }
    }
}
