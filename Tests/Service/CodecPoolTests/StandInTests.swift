import SatchelCore
import CodecPool
import Foundation
import Glibc
import TestSupport
import Testing

extension Isolation {
    /// What a codec is linked with and never calls need not be loaded.
    @Suite struct StandInTests {
        @Test func `a codec with a directory of stand-ins is linked with them, and its environment is fixed`()
            async throws
        {
            let scratch = try Scratch()
            let codec = try scratch.place.alias(of: "fault-codec")
            let standIns = codec.executable.path(percentEncoded: false) + ".stand-ins"
            try FileManager.default.createDirectory(atPath: standIns, withIntermediateDirectories: false)
            try await withPool(.faulty(at: codec.executable)) { pool, report in
                #expect(report.layers.contains { $0.layer == .environment && $0.state == .holds })
                let words = Place.zygotes(named: codec.name).map { Self.words(of: $0.number) }
                #expect(!words.isEmpty && words.allSatisfy { $0.contains("--stand-ins=\(standIns)") })
                #expect(report.standInFailure == nil)
                let outcome = try await pool.run("fault: null", in: scratch.place)
                #expect(outcome.error == nil)
            }
        }

        @Test func `a codec that can't be linked with its stand-ins is started without`() async throws {
            let scratch = try Scratch()
            let codec = try scratch.place.alias(of: "fault-codec")
            let standIns = codec.executable.path(percentEncoded: false) + ".stand-ins"
            try FileManager.default.createDirectory(atPath: standIns, withIntermediateDirectories: false)
            try Data("no library".utf8).write(to: URL(filePath: standIns + "/libseccomp.so.2"))
            try await withPool(.faulty(at: codec.executable)) { pool, report in
                #expect(report.layers.contains { $0.layer == .environment && $0.state == .holds })
                let words = Place.zygotes(named: codec.name).map { Self.words(of: $0.number) }
                #expect(!words.isEmpty && words.allSatisfy { $0.contains("--stand-ins=") })
                #expect(report.standInFailure?.isEmpty == false)
                let outcome = try await pool.run("fault: null", in: scratch.place)
                #expect(outcome.error == nil)
            }
        }

        /// How a process was started.
        private static func words(of process: Int32) -> [String] {
            let text = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
            return text.map { $0.split(separator: "\0").map(String.init) } ?? []
        }
    }
}
