import SatchelCore
import CodecPool
import FaultInjection
import Foundation
import TestSupport
import Testing

extension Isolation {
    /// SECURITY.md's account of what hostile code in a codec process reaches, tried in the real confinement.
    @Suite struct ExaminationTests {
        /// What a row says: attempts, and the answer to each of them.
        private struct Row {
            var names: [String]
            var answer: String
        }

        /// Of the table whose first column has this title. An answer ends at a colon, behind which reasons are given.
        private static func rows(of title: String) throws -> [Row] {
            let page = try String(contentsOf: Repository.root.appending(path: "SECURITY.md"), encoding: .utf8)
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex { $0.hasPrefix("| \(title) |") })
            return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                let answer = cells[2].prefix { $0 != ":" }.replacing("`", with: "")
                return Row(
                    names: cells[0].split(separator: ",").map {
                        $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
                    },
                    answer: String(answer))
            }
        }

        private static var attempts: [String] {
            (0...).lazy.map { index in unsafe fault_reach_name(index).map { unsafe String(cString: $0) } }
                .prefix { $0 != nil }.compactMap(\.self)
        }

        @Test func `each call by which it could reach out is answered as SECURITY md says`() async throws {
            let rows = try Self.rows(of: "Attempt")
            let scratch = try Scratch()
            #expect(rows.flatMap(\.names).sorted() == Self.attempts.sorted())
            try await withPool(.faulty()) { pool, _ in
                for row in rows {
                    for name in row.names {
                        let outcome = try await pool.run("fault: reach \(name)", stop: true, in: scratch.place)
                        #expect(Self.answer(outcome) == row.answer, "\(name)")
                    }
                }
            }
            #expect(!FileManager.default.fileExists(atPath: "/tmp/satchel-was-here"))
        }

        private static func answer(_ outcome: Outcome) -> String {
            if outcome.error == .codecCrashed(reason: "made a system call that is not allowed") {
                return "ends the process"
            }
            guard let note = outcome.result?.probeResult.note else { return "\(outcome)" }
            guard let code = Int32(note.drop { !$0.isNumber }) else { return note }
            return unsafe fault_errno_name(code).map { unsafe String(cString: $0) } ?? note
        }

        @Test func `whatever it says out of turn, its own source fails alone, as SECURITY md says`() async throws {
            let rows = try Self.rows(of: "Message")
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                for row in rows {
                    for name in row.names {
                        let outcome = try await pool.run("fault: \(name)", in: scratch.place)
                        #expect("\(outcome.error.map(\.description) ?? "taken")".contains(row.answer), "\(name)")
                    }
                    let next = try await pool.run("fault: null", in: scratch.place)
                    #expect(next.error == nil)
                }
            }
        }
    }
}
