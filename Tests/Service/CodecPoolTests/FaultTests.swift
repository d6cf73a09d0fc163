import SatchelCore
import CodecPool
import FoundationEssentials
import Glibc
import Testing

extension Isolation {
    @Suite struct FaultTests {
        @Test func `an honest codec's renditions arrive, smallest first, and its process ends`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run("fault: null", in: scratch.place)
                #expect(outcome.error == nil)
                #expect(outcome.reports.map(\.role) == [.thumbnail, .main])
                let result = try #require(outcome.result)
                #expect(result.processIsDead)
                #expect(result.probeResult.note == "null")
                #expect(result.ending?.warnings == ["a warning with [31mcolour"])
                #expect(try #require(result.cpuSeconds) < 1)
                #expect(try #require(result.peakMemory) > 1 << 20)
                for report in outcome.reports {
                    let path = scratch.place.path(of: "output-\(report.role.rawValue)")
                    let text = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)
                    #expect(text.hasPrefix(report.role.rawValue))
                }
            }
        }

        @Test func `a source is only looked at where no rendition is wanted`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run("fault: null", stop: true, in: scratch.place)
                #expect(outcome.error == nil)
                #expect(outcome.result?.probeResult.type == .jpeg)
                #expect(outcome.result?.ending == nil)
                #expect(outcome.reports.isEmpty)
            }
        }

        /// A command, and what the log says of it.
        struct Fault: CustomTestStringConvertible, Sendable {
            var command: String
            var reason: String
            var testDescription: String { command }

            init(_ command: String, _ reason: String) {
                self.command = command
                self.reason = reason
            }
        }

        static let faults = [
            Fault("segv", "signal 11"), Fault("abort", "signal 6"), Fault("trap", "signal 4"),
            Fault("exit", "ended with 3"),
            Fault("nonsense", "a message that is none"), Fault("oversize", "a packet of over 65536 bytes"),
            Fault("flood", "broke the protocol"), Fault("hang-up", "hung up"),
            Fault("refuse-falsely", "a refusal as 'blocked_address'"),
            Fault("rendition-first", "a rendition before the probe result"),
            Fault("kind", "is no type of audio recordings"),
            Fault("plan", "'waveform' is planned"), Fault("plan-twice", "planned twice"),
            Fault("estimate", "an impossible estimate"),
            Fault("late-segv", "signal 11"), Fault("wrong-size", "and has"),
            Fault("wrong-type", "reported as 'image/heic'"),
            Fault("negative", "impossible sizes"), Fault("unordered", "never ordered"),
            Fault("twice", "reported twice"),
            Fault("ending", "impossible display options"),
        ]

        @Test(arguments: faults)
        func `a codec that breaks fails its own source alone`(fault: Fault) async throws {
            let scratch = try Scratch()
            try await withPool(.faulty(codecs: 3)) { pool, _ in
                let place = scratch.place
                async let before = pool.run("fault: busy 50", named: "before", in: place)
                async let after = pool.run("fault: busy 50", named: "after", in: place)
                let outcome = try await pool.run("fault: \(fault.command)", in: scratch.place)
                guard case .codecCrashed(let reason) = outcome.error else {
                    Issue.record("\(fault.command) ended in \(String(describing: outcome))")
                    return
                }
                #expect(reason.contains(fault.reason))
                for neighbour in try await [before, after] {
                    #expect(neighbour.error == nil)
                    #expect(neighbour.reports.count == 2)
                }
            }
        }

        @Test func `a codec that hangs is killed at the deadline`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                for command in ["sleep", "spin", "late-sleep"] {
                    let outcome = try await pool.run("fault: \(command)", within: .milliseconds(300), in: scratch.place)
                    #expect(outcome.error?.code == .deadlineExceeded)
                }
            }
        }

        @Test func `a codec that falls silent without working is killed`() async throws {
            let scratch = try Scratch()
            // On a busy machine a process that works may wait for a part of a second.
            try await withPool(.faulty(silence: .seconds(2))) { pool, _ in
                let outcome = try await pool.run("fault: late-sleep", within: nil, in: scratch.place)
                guard case .codecCrashed(let reason) = outcome.error else {
                    Issue.record("ended in \(String(describing: outcome))")
                    return
                }
                #expect(reason.contains("silent"))
                // Work is no silence.
                let busy = try await pool.run("fault: busy 3000", within: nil, in: scratch.place)
                #expect(busy.error == nil)
            }
        }

        @Test func `a codec that spins is stopped by its CPU limit`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run("fault: spin", ceilings: Ceilings(cpuSeconds: 1), in: scratch.place)
                #expect(outcome.error == .tooExpensive(resource: "CPU time", granted: "1 s"))
                #expect(outcome.decisions == 0)
            }
        }

        @Test(arguments: ["eat", "late-eat"])
        func `a codec that eats memory dies of its limit, and says so`(command: String) async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let ceilings = Ceilings(memory: 128 << 20)
                let outcome = try await pool.run("fault: \(command)", ceilings: ceilings, in: scratch.place)
                guard case .tooExpensive("memory", _) = outcome.error else {
                    Issue.record("ended in \(String(describing: outcome))")
                    return
                }
            }
        }

        @Test func `a source that needs more memory than there is isn't started`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty(memory: 256 << 20)) { pool, _ in
                let outcome = try await pool.run("fault: costly \(300 << 20)", in: scratch.place)
                #expect(outcome.error == .tooExpensive(resource: "memory (some 300 MiB)", granted: "256 MiB"))
                let small = try await pool.run("fault: costly \(100 << 20)", in: scratch.place)
                #expect(small.error == nil)
            }
        }

        @Test func `a file can't grow over its limit, which is an error and no death`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run(
                    "fault: large", ceilings: Ceilings(fileBytes: 3_000_000), in: scratch.place)
                guard case .unreadable(let finding) = outcome.error else {
                    Issue.record("ended in \(String(describing: outcome))")
                    return
                }
                #expect(finding.name?.contains("File too large") == true)
            }
        }

        @Test func `what a codec says is cleaned before anyone reads it`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let note = try #require(await pool.run("fault: escape", in: scratch.place).result?.probeResult.note)
                #expect(note.hasPrefix("[2Jnotexxx"))
                #expect(note.count == 500)
                let warnings = try #require(
                    await pool.run("fault: warnings", in: scratch.place).result?.ending?.warnings)
                #expect(warnings.count == 32)
                #expect(warnings.allSatisfy { $0.count == 300 })
                let refusal = try await pool.run("fault: refuse", in: scratch.place)
                #expect(refusal.error == .unreadable(Finding(.failed, named: "a clause with a bell")))
            }
        }

        @Test func `an output that is still open for writing is known by the kernel's word`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let source = try scratch.place.source("fault: hold")
                let output = try scratch.place.output(.main, name: "main")
                let path = scratch.place.path(of: "main")
                var leases: [Int32] = []
                let result = try await pool.process(
                    source, order: WorkOrder(profile: CodecPool.profile),
                    decide: { (_) async throws(AttachmentError) in .proceed(outputs: [output]) },
                    received: { (_) async throws(AttachmentError) in leases.append(Self.lease(path)) })
                // While the process held a second descriptor, and after its death.
                #expect(leases == [EAGAIN])
                #expect(result.processIsDead)
                #expect(Self.lease(path) == 0)

                leases = []
                let honest = try scratch.place.source("fault: null")
                let second = try scratch.place.output(.main, name: "main")
                _ = try await pool.process(
                    honest, order: WorkOrder(profile: CodecPool.profile),
                    decide: { (_) async throws(AttachmentError) in .proceed(outputs: [second]) },
                    received: { (_) async throws(AttachmentError) in leases.append(Self.lease(path)) })
                #expect(leases == [0])
            }
        }

        /// Takes a read lease, which is refused while anyone can write; 0, or the errno.
        private static func lease(_ path: String) -> Int32 {
            let reader = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard reader >= 0 else { return errno }
            defer { close(reader) }
            let setLease: Int32 = 1024
            return fcntl(reader, setLease, Int32(F_RDLCK)) == 0 ? 0 : errno
        }
    }
}
