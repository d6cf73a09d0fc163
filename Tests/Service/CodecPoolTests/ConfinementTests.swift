import SatchelCore
import CodecPool
import FoundationEssentials
import Glibc
import TestSupport
import Testing

extension Isolation {
    /// What hostile code could do from inside the real confinement: the fault codec links the same one.
    @Suite struct ConfinementTests {
        @Test func `every required layer holds, and the extras that this kernel has are named`() async throws {
            try await withPool(.faulty()) { _, report in
                for layer in SandboxLayer.allCases where layer.isRequired {
                    let state = report.layers.first { $0.layer == layer }?.state
                    #expect(state == .holds || (layer == .user && state == .needless && !Privileges.canChangeUser))
                }
                for extra in report.extras {
                    print("extra: \(extra.layer.title): \(extra.state.rawValue) \(extra.reason)")
                }
                #expect(report.extras.count == SandboxLayer.allCases.filter { !$0.isRequired }.count)
                #expect(report.missing(under: .standard).isEmpty)
            }
        }

        @Test func `glibc takes every setting of a codec's memory`() throws {
            let name = "GLIBC_TUNABLES="
            let settings = try #require(CodecInvocation.environment.first { $0.hasPrefix(name) }).dropFirst(name.count)
            let linkers = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
            let linker = try #require(linkers.first { FileManager.default.fileExists(atPath: $0) })
            let program = Program(URL(filePath: linker), environment: ["GLIBC_TUNABLES": String(settings)])
            let taken = try program.run(["--list-tunables"]).outputText
            for setting in settings.split(separator: ":") {
                let parts = setting.split(separator: "=")
                let value = try #require(Int(parts[1]))
                let line = try #require(taken.split(separator: "\n").first { $0.hasPrefix("\(parts[0]):") })
                let told = line.split(separator: " ")[1]
                #expect(told == "\(value)" || told == "0x" + String(value, radix: 16), "\(line)")
            }
        }

        /// What a decoder that was taken over would try, and how the kernel answers: with an error, or with death.
        static let refused: [(command: String, answer: Int32)] = [
            ("open /etc/passwd", EACCES), ("open /proc/self/environ", EACCES), ("open /", EACCES),
            ("create /tmp/satchel-was-here", EACCES), ("fork", EPERM),
        ]

        @Test(arguments: refused)
        func `what libraries may try is refused with an error`(command: String, answer: Int32) async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run("fault: \(command)", in: scratch.place)
                #expect(outcome.error == nil)
                #expect(outcome.result?.probeResult.note == "errno \(answer)")
            }
            #expect(!FileManager.default.fileExists(atPath: "/tmp/satchel-was-here"))
        }

        static let deadly = [
            "exec /bin/true", "ptrace", "ptrace-process", "signal", "peek", "limit", "root", "namespace", "dumpable",
        ]

        @Test(arguments: deadly)
        func `what only an attacker tries ends the process`(command: String) async throws {
            let scratch = try Scratch()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run("fault: \(command) \(getpid())", in: scratch.place)
                #expect(outcome.error == .codecCrashed(reason: "made a system call that is not allowed"))
            }
        }

        @Test func `a canary on the loopback interface hears nothing`() async throws {
            let scratch = try Scratch()
            let canary = try Canary()
            try await withPool(.faulty()) { pool, _ in
                let outcome = try await pool.run("fault: connect \(canary.port)", in: scratch.place)
                #expect(outcome.result?.probeResult.note == "errno \(EPERM)")
            }
            let heard = canary.heard
            #expect(!heard)
            // It has ears.
            try canary.call()
            let hears = canary.heard
            #expect(hears)
        }

        @Test(arguments: ["fault-codec", "satchel-codec"])
        func `a live process is confined by the kernel's own account`(codec: String) async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: codec)
            let configuration = CodecPoolConfiguration(executable: alias.executable, codecs: 1)
            try await withPool(configuration) { _, report in
                // The zygote at work keeps one ready; the one in reserve none.
                func ready() -> [ProcessStatus] {
                    Place.zygotes(named: alias.name)
                        .flatMap { ProcessStatus.children(of: $0.number) }.filter { $0["Seccomp"] == "2" }
                }
                try await eventually { ready().count == 1 }
                let process = try #require(ready().first)
                #expect(process["NoNewPrivs"] == "1")
                for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
                    // Without CAP_SETPCAP, which only root has, the bounding set stays; it grants nothing any more.
                    guard set != "CapBnd" || Privileges.canChangeUser else { continue }
                    #expect(UInt64(process[set], radix: 16) == 0, "\(set) is \(process[set])")
                }
                let users = process["Uid"].split(whereSeparator: \.isWhitespace).compactMap { UInt32($0) }
                #expect(users.count == 4)
                if Privileges.canChangeUser {
                    #expect(users.allSatisfy { $0 != 0 })
                    #expect(users.allSatisfy { $0 != getuid() && $0 >= 65534 })
                    #expect(process["Groups"].isEmpty)
                }
                #expect(process["Threads"] == "1")
                // Three silent descriptors and a socket.
                #expect(ProcessStatus.descriptors(of: process.number) == 4 || getuid() != 0)

                let namespaces: [(SandboxLayer, String)] = [
                    (.userNamespace, "user"), (.networkNamespace, "net"), (.mountNamespace, "mnt"),
                    (.ipcNamespace, "ipc"),
                    (.processNamespace, "pid"),
                ]
                for (layer, name) in namespaces where report.holds(layer) && getuid() == 0 {
                    #expect(Self.namespace(name, of: process.number) != Self.namespace(name, of: getpid()))
                }
                if report.holds(.processNamespace) {
                    #expect(process["NSpid"].split(whereSeparator: \.isWhitespace).count == 2)
                }
                if report.holds(.mountNamespace), getuid() == 0 {
                    let root = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.number)/root")
                    #expect(root.isEmpty)
                }
            }
        }

        private static func namespace(_ name: String, of process: Int32) -> String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/\(name)")
        }

        @Test(arguments: SandboxLayer.allCases)
        func `without a layer that is demanded nothing starts`(layer: SandboxLayer) async throws {
            let scratch = try Scratch()
            let alias = try scratch.place.alias(of: "fault-codec")
            let withheld = ["--withhold=\(layer.rawValue)"]
            for policy in SandboxPolicy.allCases {
                // Where there is no other user to become, an id of its own is needless and can't be missing.
                if layer == .user, !Privileges.canChangeUser { continue }
                let pool = CodecPool(try .faulty(at: alias.executable, sandbox: policy, arguments: withheld))
                switch await Self.started(pool) {
                case .success(let report):
                    #expect(!policy.demands(layer))
                    #expect(!report.holds(layer))
                    await pool.shutdown()
                case .failure(let error):
                    guard case .unconfined(let missing, let said) = error else {
                        Issue.record("\(error)")
                        continue
                    }
                    #expect(policy.demands(layer))
                    #expect(said == policy)
                    #expect(missing.contains { $0.layer == layer && $0.reason == "withheld" })
                    #expect(error.description.contains(layer.title))
                }
            }
            // A zygote that was sent away is reaped in its own time.
            try await eventually { Place.zygotes(named: alias.name).isEmpty }
        }

        private static func started(_ pool: CodecPool) async -> Result<SandboxReport, CodecPoolError> {
            do {
                return .success(try await pool.start())
            } catch {
                return .failure(error)
            }
        }

        @Test func `an executable that is missing, no codec, or can't prepare is told apart`() async throws {
            let none = CodecPool(CodecPoolConfiguration(executable: URL(filePath: "/nonexistent/codec")))
            await #expect(
                throws: CodecPoolError.cannotStart(path: "/nonexistent/codec", reason: "No such file or directory")
            ) { try await none.start() }
            let other = CodecPool(CodecPoolConfiguration(executable: URL(filePath: "/bin/true")))
            await #expect(throws: CodecPoolError.self) { try await other.start() }
            let unprepared = CodecPool(try .faulty(arguments: ["--unprepared"]))
            guard case .failure(let error) = await Self.started(unprepared) else {
                Issue.record("it started")
                return
            }
            #expect(error.description.contains("told not to prepare"))
        }
    }
}

/// A listener on the loopback interface.
final class Canary: Sendable {
    private let listener: Descriptor
    let port: UInt16

    init() throws {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket") }
        listener = Descriptor(owning: number)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(number, generic, length) == 0, listen(number, 8) == 0 else { return Int32(-1) }
                return unsafe getsockname(number, generic, &length)
            }
        }
        guard code == 0 else { throw SystemError("listen") }
        port = UInt16(bigEndian: address.sin_port)
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Whether anyone called.
    var heard: Bool {
        var polled = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&polled, 1, 50) > 0
    }

    func call() throws {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard number >= 0 else { throw SystemError("make a socket") }
        let caller = Descriptor(owning: number)
        var address = Self.loopback(port: port)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(caller.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw SystemError("call") }
    }
}

extension SandboxReport {
    fileprivate var extras: [SandboxLayerReport] { layers.filter { !$0.layer.isRequired } }

    fileprivate func holds(_ layer: SandboxLayer) -> Bool {
        layers.contains { $0.layer == layer && $0.state == .holds }
    }
}
