import SatchelCore
import CodecPool
import Foundation
import Glibc
import TestSupport
import Testing

extension Isolation {
    /// What isolation costs, in processor time of everyone involved: the service, the zygote and its processes.
    @Suite struct CostTests {
        @Test(arguments: ["fault-codec"])
        func `a process for each source costs under 10 ms of CPU over a warm one`(codec: String) async throws {
            let scratch = try Scratch()
            let source = scratch.place.path(of: "source")
            _ = try scratch.place.source("fault: null")
            if codec == "satchel-codec" {
                let picture = try #require(try MediaManifest.load().files.first { $0.expect.type == .jpeg })
                try Data(contentsOf: picture.url).write(to: URL(filePath: source))
            }
            let own = try await Self.cost(of: codec, perProcess: 1, source: source, in: scratch.place)
            let warm = try await Self.cost(of: codec, perProcess: 100_000, source: source, in: scratch.place)
            print("\(codec): \(own) ms of CPU per source in its own process, \(warm) ms in a warm one")
            #expect(own - warm < 10)
        }

        /// Milliseconds of CPU per source: the slope, so that starting and ending doesn't count.
        private static func cost(
            of codec: String, perProcess: Int, source: String, in place: Place
        ) async throws -> Double {
            let few = 20
            let many = 120
            let short = try await total(of: codec, perProcess: perProcess, sources: few, source: source, in: place)
            let long = try await total(of: codec, perProcess: perProcess, sources: many, source: source, in: place)
            return (long - short) / Double(many - few) * 1000
        }

        private static func total(
            of codec: String, perProcess: Int, sources: Int, source: String, in place: Place
        ) async throws -> Double {
            let before = spent()
            let configuration = CodecPoolConfiguration(
                executable: try Repository.product(codec), codecs: 1, sourcesPerProcess: perProcess)
            try await withPool(configuration) { pool, _ in
                for _ in 0..<sources {
                    let number = unsafe open(source, O_RDONLY | O_CLOEXEC)
                    try #require(number >= 0)
                    let outcome = await pool.run(
                        owning: Descriptor(owning: number), profile: .notification,
                        owner: CodecPool.Owner(name: "one"), in: place)
                    try #require(outcome.error == nil)
                }
            }
            return spent() - before
        }

        /// Processor seconds of this process and of all that it has waited for.
        private static func spent() -> Double {
            [RUSAGE_SELF, RUSAGE_CHILDREN].reduce(0) { sum, who in
                var usage = rusage()
                guard unsafe getrusage(__rusage_who_t(who.rawValue), &usage) == 0 else { return sum }
                let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
                let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
                return sum + Double(seconds) + Double(microseconds) / 1e6
            }
        }
    }
}
