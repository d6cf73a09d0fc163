import SatchelCore
import CodecPool
import Foundation
import Glibc
import TestSupport
import Testing

extension Isolation {
    /// Libraries are loaded where a source needs them: most need few.
    @Suite struct DecoderSetTests {
        @Test func `a source beyond the common decoder set is given to a process of the full one`() async throws {
            let scratch = try Scratch()
            let codec = try scratch.place.alias(of: "fault-codec")
            let stills = try scratch.place.alias(of: "fault-codec", ending: "-stills")
            var configuration = try CodecPoolConfiguration.faulty(at: codec.executable, stills: stills.executable)
            configuration.sourcesBeforeReserve = 100
            try await withPool(configuration) { pool, _ in
                #expect(try await pool.run("fault: null", in: scratch.place).error == nil)
                #expect(Place.zygotes(named: codec.name).isEmpty)
                let outcome = try await pool.run("fault: rare", in: scratch.place)
                #expect(outcome.error == nil)
                #expect(outcome.decisions == 1)
                #expect(outcome.reports.count == 2)
                #expect(Place.zygotes(named: codec.name).count == 1)
                #expect(Place.zygotes(named: stills.name).count == 1)
                #expect(pool.statistics.deaths.isEmpty)
            }
        }

        @Test func `a process that passes a source on serves its owner's next one`() async throws {
            let scratch = try Scratch()
            let stills = try scratch.place.alias(of: "fault-codec", ending: "-stills")
            var configuration = try CodecPoolConfiguration.faulty(stills: stills.executable, sourcesPerProcess: 100)
            configuration.sourcesBeforeReserve = 100
            let owner = CodecPool.Owner(name: "one")
            try await withPool(configuration) { pool, _ in
                var makers: [String: Set<String>] = [:]
                for number in 0..<6 {
                    let command = number.isMultiple(of: 2) ? "rare" : "null"
                    let name = "output\(number)"
                    let outcome = try await pool.run(
                        "fault: \(command)", owner: owner, named: name, in: scratch.place)
                    #expect(outcome.error == nil)
                    let made = try String(contentsOfFile: scratch.place.path(of: "\(name)-main"), encoding: .utf8)
                    makers[command, default: []].insert(made)
                }
                // What is made says by which process, which has a number in its zygote's namespace.
                #expect(makers["rare"]?.count == 1)
                #expect(makers["null"]?.count == 1)
                #expect(pool.statistics.zygotes == 2)
            }
        }

        @Test func `a process of the full decoder set that passes a source on has lied`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run("fault: rare always", in: scratch.place)
                #expect(outcome.error?.code == .codecCrashed)
                #expect(outcome.decisions == 0)
                // And the next source is none the worse for it.
                #expect(try await pool.run("fault: rare", in: scratch.place).error == nil)
            }
        }

        @Test func `one program that takes everything may have both places`() async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "satchel-codec")
            var configuration = CodecPoolConfiguration(executable: alias.executable, codecs: 1)
            configuration.sourcesBeforeReserve = 100
            try await withPool(configuration) { pool, _ in
                for folder in ["jpeg", "mp4"] { try await Self.run(folder, by: pool, in: scratch.place) }
                // The photograph's took the clip as well.
                #expect(Place.zygotes(named: alias.name).count == 1)
            }
        }

        @Test func `a photograph doesn't start the codec with FFmpeg's libraries and those for HEIF and JXL`()
            async throws
        {
            let scratch = try Scratch()
            let codec = try scratch.place.alias(of: "satchel-codec")
            let stills = try scratch.place.alias(of: "satchel-stills")
            let rare = ["libavcodec.", "libavformat.", "libavfilter.", "libheif.", "libjxl."]
            var configuration = CodecPoolConfiguration(
                executable: codec.executable, stills: stills.executable, codecs: 1)
            configuration.sourcesBeforeReserve = 100
            try await withPool(configuration) { pool, _ in
                for folder in ["jpeg", "png", "webp", "tiff"] {
                    try await Self.run(folder, by: pool, in: scratch.place)
                }
                #expect(Place.zygotes(named: codec.name).isEmpty)
                try await Self.run("mp4", by: pool, in: scratch.place)
                for (name, hasAll) in [(stills.name, false), (codec.name, true)] {
                    let zygotes = Place.zygotes(named: name)
                    #expect(zygotes.count == 1)
                    // The kernel gives a page at a time, which String(contentsOfFile:) takes for all.
                    let number = try #require(zygotes.first).number
                    let file = try #require(FileHandle(forReadingAtPath: "/proc/\(number)/maps"))
                    let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
                    #expect(maps.contains("libvips."))
                    for library in rare { #expect(maps.contains(library) == hasAll, "\(library)") }
                }
            }
        }

        /// Gives the first sample of `folder` to the stills' codec first.
        private static func run(_ folder: String, by pool: CodecPool, in place: Place) async throws {
            let sample = try #require(
                try MediaManifest.load().files.first {
                    $0.path.hasPrefix("\(folder)/") && $0.expect.state == "delivered"
                        && $0.expect.kind == (folder == "mp4" ? .video : .image)
                })
            let number = unsafe open(sample.url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
            let outcome = await pool.run(owning: Descriptor(owning: number), profile: .notification, in: place)
            #expect(outcome.error == nil, "\(sample.path)")
        }
    }
}
