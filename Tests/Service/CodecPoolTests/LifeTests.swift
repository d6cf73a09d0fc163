import SatchelCore
import CodecPool
import FoundationEssentials
import Glibc
import TestSupport
import Testing

extension Isolation {
    @Suite struct LifeTests {
        @Test func `500 sources leave no descriptor, no process and no zombie behind`() async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            let before = ProcessStatus.pidfds()
            try await withPool(.faulty(at: alias.executable)) { pool, _ in
                let place = scratch.place
                #expect(try await pool.run("fault: null", in: place).error == nil)
                try await eventually { Place.zygotes(named: alias.name).count == 2 }
                let settled = ProcessStatus.pidfds()
                let zygotes = Place.zygotes(named: alias.name).map(\.number)
                let held = zygotes.map(ProcessStatus.descriptors)
                try await withThrowingTaskGroup(of: AttachmentError?.self) { group in
                    for lane in 0..<2 {
                        group.addTask {
                            for number in 0..<250 {
                                // Every tenth crashes, which takes another way out.
                                let command = number % 10 == 9 ? "fault: late-segv" : "fault: null"
                                let outcome = try await pool.run(command, named: "lane\(lane)", in: place)
                                if number % 10 != 9, let error = outcome.error { return error }
                            }
                            return nil
                        }
                    }
                    for try await error in group { #expect(error == nil) }
                }
                #expect(Place.zygotes(named: alias.name).map(\.number) == zygotes)
                // Not more than before: a zygote that was just then starting a process had its socket open.
                try await eventually { zip(zygotes.map(ProcessStatus.descriptors), held).allSatisfy { $0 <= $1 } }
                // Both zygotes may have processes ready now.
                try await eventually { ProcessStatus.pidfds() <= settled + 8 }
                try await eventually {
                    zygotes.flatMap(ProcessStatus.children).allSatisfy { !$0.isZombie }
                        && zygotes.flatMap(ProcessStatus.children).count <= 6
                }
            }
            try await eventually { Place.zygotes(named: alias.name).isEmpty }
            try await eventually { ProcessStatus.pidfds() <= before }
        }

        @Test func `a zygote is renewed after its sources`() async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            try await withPool(.faulty(at: alias.executable, codecs: 1, sourcesPerZygote: 3)) { pool, _ in
                let first = try #require(Place.zygotes(named: alias.name).map(\.number).min())
                for _ in 0..<3 { #expect(try await pool.run("fault: null", in: scratch.place).error == nil) }
                try await eventually { !Place.zygotes(named: alias.name).contains { $0.number == first } }
                for _ in 0..<10 { #expect(try await pool.run("fault: null", in: scratch.place).error == nil) }
                try await eventually { Place.zygotes(named: alias.name).count <= 2 }
            }
        }

        @Test func `a reserve is started when there is work enough for it`() async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            var configuration = try CodecPoolConfiguration.faulty(at: alias.executable)
            configuration.sourcesBeforeReserve = 5
            try await withPool(configuration) { pool, _ in
                for _ in 0..<4 { #expect(try await pool.run("fault: null", in: scratch.place).error == nil) }
                try await Task.sleep(for: .seconds(1))
                #expect(Place.zygotes(named: alias.name).count == 1)
                for _ in 0..<3 { #expect(try await pool.run("fault: null", in: scratch.place).error == nil) }
                try await eventually { Place.zygotes(named: alias.name).count == 2 }
            }
        }

        @Test func `a process that crashes before there is a reserve brings one about, which takes over`() async throws
        {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            var configuration = try CodecPoolConfiguration.faulty(at: alias.executable)
            configuration.sourcesBeforeReserve = 100
            try await withPool(configuration) { pool, _ in
                let first = try #require(Place.zygotes(named: alias.name).first).number
                #expect(try await pool.run("fault: late-segv", in: scratch.place).error?.code == .codecCrashed)
                try await eventually { Place.zygotes(named: alias.name).count == 2 }
                let place = scratch.place
                async let outcome = pool.run("fault: late-pause", in: place)
                #expect(try await Self.worker(on: place.path(of: "output-source")).parent != first)
                #expect(try await outcome.error == nil)
            }
        }

        @Test func `a source that crashed is tried once more, in another zygote`() async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            try await withPool(.faulty(at: alias.executable)) { pool, _ in
                try await eventually { Place.zygotes(named: alias.name).count == 2 }
                let place = scratch.place
                async let outcome = pool.run("fault: slow-segv", in: place)
                let path = place.path(of: "output-source")
                let first = try await Self.worker(on: path)
                // The second attempt finds another command in the same file.
                _ = try place.source("fault: late-pause", name: "output-source")
                try await eventually { ProcessStatus(first.number) == nil }
                let second = try await Self.worker(on: path)
                #expect(first.parent != second.parent)
                #expect(try await outcome.error == nil)
                #expect(try await outcome.decisions == 1)
            }
        }

        /// The process that has a source.
        private static func worker(on path: String) async throws -> ProcessStatus {
            try await whenFound { ProcessStatus.holding(path).compactMap { ProcessStatus($0) }.first }
        }

        @Test(arguments: [[], ["--withhold=processNamespace", "--withhold=userNamespace"]])
        func `the death of a zygote ends its processes and fails their sources alone`(arguments: [String])
            async throws
        {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            try await withPool(.faulty(at: alias.executable, arguments: arguments)) { pool, _ in
                try await eventually { Place.zygotes(named: alias.name).count == 2 }
                let place = scratch.place
                async let outcome = pool.run("fault: null", in: place)
                #expect(try await outcome.error == nil)
                async let victim = pool.run("fault: late-sleep", in: place)
                let worker = try await Self.worker(on: place.path(of: "output-source"))
                #expect(kill(worker.parent, SIGKILL) == 0)
                #expect(try await victim.error?.code == .storeFailed)
                try await eventually { ProcessStatus(worker.number) == nil }
                // The reserve has taken over.
                for _ in 0..<5 { #expect(try await pool.run("fault: null", in: place).error == nil) }
            }
            try await eventually { Place.zygotes(named: alias.name).isEmpty }
        }

        @Test(arguments: [[], ["--withhold=processNamespace", "--withhold=userNamespace"]])
        func `the death of the service leaves no zygote and no process alive`(arguments: [String]) async throws {
            let scratch = try Scratch()
            let path = scratch.place.path(of: "spin")
            _ = try scratch.place.source("fault: spin", name: "spin")
            let codec = try Repository.product("fault-codec").path(percentEncoded: false)
            let driver = try Driver([codec, path] + arguments)
            // The driver and the two processes at work.
            try await eventually { ProcessStatus.holding(path).count >= 3 }
            var zygotes: [Int32] = []
            var all: [Int32] = []
            // Two at work, two ready, and process 1 of each zygote.
            try await eventually("two zygotes have all their processes") {
                zygotes = ProcessStatus.children(of: driver.process).map(\.number)
                all = zygotes + zygotes.flatMap(ProcessStatus.children).map(\.number)
                return zygotes.count == 2 && all.count >= 2 + 4 + 2
            }
            driver.kill()
            try await eventually { all.allSatisfy { ProcessStatus($0)?.isZombie ?? true } }
        }

        @Test func `an owner's files may share a process, two owners' never`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty(codecs: 1, sourcesPerProcess: 3)) { pool, _ in
                func process(of owner: String?) async throws -> String {
                    let owner = owner.map { CodecPool.Owner(name: $0) }
                    let outcome = try await pool.run("fault: null", owner: owner, in: scratch.place)
                    #expect(outcome.error == nil)
                    let file = URL(filePath: scratch.place.path(of: "output-main"))
                    return String(decoding: try Data(contentsOf: file), as: UTF8.self)
                }
                let ada = [try await process(of: "ada"), try await process(of: "ada"), try await process(of: "ada")]
                #expect(Set(ada).count == 1)
                let again = try await process(of: "ada")
                #expect(again != ada[0])
                let bob = try await process(of: "bob")
                #expect(bob != again && bob != ada[0])
                let nobody = [try await process(of: nil), try await process(of: nil)]
                #expect(Set(nobody).count == 2)
            }
        }

        @Test func `a cancelled task's process is killed at once`() async throws {
            let scratch = try Scratch()
            try await withPool(.faulty(silence: .seconds(3600))) { pool, _ in
                let place = scratch.place
                let task = Task { try await pool.run("fault: sleep", within: nil, in: place) }
                let worker = try await Self.worker(on: place.path(of: "output-source"))
                task.cancel()
                #expect(try await task.value.error?.code == .deadlineExceeded)
                try await eventually { ProcessStatus(worker.number) == nil }
            }
        }
    }
}

/// A service in small that a test may kill.
private struct Driver: ~Copyable {
    let process: Int32

    init(_ arguments: [String]) throws {
        let path = try Repository.product("pool-driver").path(percentEncoded: false)
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var number: pid_t = 0
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let code = unsafe posix_spawn(&number, path, &actions, nil, &words, environ)
        guard code == 0 else { throw SystemError("start the driver", code: code) }
        process = number
    }

    /// Ends it; twice does no harm.
    func kill() {
        var ended = unsafe siginfo_t()
        // Its number stays its own until it is waited for.
        guard unsafe waitid(P_PID, id_t(process), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 else { return }
        Glibc.kill(process, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
    }

    deinit {
        kill()
    }
}
