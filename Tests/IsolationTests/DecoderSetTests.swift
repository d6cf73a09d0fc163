import Attachments
import Foundation
import Glibc
import Intake
import TestSupport
import Testing

extension Isolation {
    /// Libraries are loaded where a source needs them: most need few.
    @Suite struct DecoderSetTests {
        @Test func `a source beyond the common decoder set is given to a process of the full one`() async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            var configuration = try CodecPoolConfiguration.faulty(at: alias.executable)
            configuration.sourcesBeforeReserve = 100
            try await withPool(configuration) { pool, _ in
                #expect(try await pool.run("fault: null", in: scratch.place).error == nil)
                #expect(Place.zygotes(named: alias.name).map(Self.decoderSet) == [.common])
                let outcome = try await pool.run("fault: rare", in: scratch.place)
                #expect(outcome.error == nil)
                #expect(outcome.decisions == 1)
                #expect(outcome.reports.count == 2)
                #expect(Set(Place.zygotes(named: alias.name).map(Self.decoderSet)) == [.common, .full])
                #expect(pool.statistics.deaths.isEmpty)
            }
        }

        @Test func `a process that passes a source on serves its owner's next one`() async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            var configuration = try CodecPoolConfiguration.faulty(at: alias.executable, sourcesPerProcess: 100)
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

        @Test func `a photograph's zygote has none of FFmpeg's libraries, nor those for HEIF and JXL`() async throws {
            let scratch = try Scratch()
            let manifest = try MediaManifest.load()
            let alias = try scratch.place.alias(of: "satchel-codec")
            let rare = ["libavcodec.", "libavformat.", "libavfilter.", "libheif.", "libjxl."]
            var configuration = CodecPoolConfiguration(executable: alias.executable, codecs: 1)
            configuration.sourcesBeforeReserve = 100
            try await withPool(configuration) { pool, _ in
                for folder in ["jpeg", "mp4"] {
                    let sample = try #require(manifest.files.first { $0.path.hasPrefix("\(folder)/") })
                    let number = unsafe open(sample.url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
                    let outcome = await pool.run(
                        owning: Descriptor(owning: number), profile: .notification, in: scratch.place)
                    #expect(outcome.error == nil, "\(sample.path)")
                    let zygotes = Place.zygotes(named: alias.name)
                    #expect(zygotes.count == (folder == "jpeg" ? 1 : 2))
                    for zygote in zygotes {
                        // The kernel gives a page at a time, which String(contentsOfFile:) takes for all.
                        let file = try #require(FileHandle(forReadingAtPath: "/proc/\(zygote.number)/maps"))
                        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
                        #expect(maps.contains("libvips."))
                        for library in rare {
                            #expect(maps.contains(library) == (Self.decoderSet(of: zygote) == .full), "\(library)")
                        }
                    }
                }
            }
        }

        private static func decoderSet(of zygote: ProcessStatus) -> DecoderSet? {
            let words = (try? String(contentsOfFile: "/proc/\(zygote.number)/cmdline", encoding: .utf8)) ?? ""
            return CodecInvocation(arguments: words.split(separator: "\0").dropFirst().map(String.init))?.decoderSet
        }
    }
}
