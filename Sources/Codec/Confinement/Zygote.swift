import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc

/// Forks a process for each source; has one thread, reads no source and relays no report.
struct Zygote<Codec: ConfinedCodec & ~Copyable>: ~Copyable {
    private var codec: Codec
    private let control: Packets
    private let signals: Descriptor
    private let invocation: CodecInvocation
    private let sandbox: SandboxConfiguration
    private let users: Range<UInt32>?
    private let addressSpace: Int64
    /// Process 1 of the process namespace; it ends with the write end of its pipe.
    private let first: pid_t
    private let lifeline: Int32
    private var children: [pid_t: Int] = [:]
    private var forks: UInt32 = 0

    private init(
        codec: consuming Codec, control: consuming Packets, signals: consuming Descriptor,
        invocation: CodecInvocation, sandbox: SandboxConfiguration, users: Range<UInt32>?, addressSpace: Int64,
        first: pid_t,
        lifeline: Int32
    ) {
        self.codec = codec
        self.control = control
        self.signals = signals
        self.invocation = invocation
        self.sandbox = sandbox
        self.users = users
        self.addressSpace = addressSpace
        self.first = first
        self.lifeline = lifeline
    }

    /// Prepares the codec, then shuts the zygote in.
    static func start(
        _ codec: consuming Codec, invocation: CodecInvocation, withholding withheld: Set<SandboxLayer>
    ) throws(StartFailure) -> Zygote {
        let control = Packets(Descriptor(owning: CodecInvocation.controlSocket))
        let environmentIsFixed = SandboxConfiguration.environmentIsFixed(for: invocation)
        do {
            try codec.prepare(invocation)
        } catch {
            try? control.send(ZygoteMessage.failed(reason: "the codec can't be prepared: \(error.description)"))
            throw StartFailure()
        }
        let prepared = sandbox_prepare_syscalls()
        if prepared != 0 {
            throw Self.fail(control, SystemError("prepare the system call filter", code: prepared))
        }
        // Whatever a library made of them meanwhile: every fork has them from here.
        sandbox_plain_signals()
        Prewarming.run()
        let addressSpace = sandbox_address_space_used()
        let (sandbox, users) = SandboxConfiguration.enter(
            policy: invocation.policy, environmentIsFixed: environmentIsFixed, withholding: withheld)

        let number = sandbox_child_signals()
        if number < 0 { throw Self.fail(control, SystemError("watch for children", code: -number)) }
        let signals = Descriptor(owning: number)

        var ends: [Int32] = [-1, -1]
        if unsafe pipe(&ends) != 0 { throw Self.fail(control, SystemError("make a pipe")) }
        let first = sandbox_fork_init(ends[0])
        if first < 0 { throw Self.fail(control, SystemError("fork process 1")) }
        close(ends[0])
        return Zygote(
            codec: codec, control: control, signals: signals, invocation: invocation, sandbox: sandbox,
            users: users, addressSpace: addressSpace, first: first, lifeline: ends[1])
    }

    /// A zygote that can't work has told the service why.
    struct StartFailure: Error {}

    private static func fail(_ control: borrowing Packets, _ error: SystemError) -> StartFailure {
        let reason = error.description
        try? control.send(error.isShortage ? ZygoteMessage.starved(reason: reason) : .failed(reason: reason))
        return StartFailure()
    }

    /// Reports what holds, then forks on command until the service hangs up or process 1 dies.
    mutating func run() {
        guard var report = try? trial() else { return }
        report.libraries = codec.libraries
        try? control.send(ZygoteMessage.ready(report, addressSpace: addressSpace))
        // What its start used: a fork finds what it needs in the file's pages by itself.
        csandbox_release_program()
        if report.missing(under: invocation.policy).isEmpty {
            while serve() {}
        }
        for child in children.keys { kill(child, SIGKILL) }
        kill(first, SIGKILL)
        // Until none is left: what they used then counts as the zygote's, and whoever waits for it knows them gone.
        while waitpid(-1, nil, 0) > 0 || errno == EINTR {}
    }

    /// One command or one death; false when it is over.
    private mutating func serve() -> Bool {
        var polled = [
            pollfd(fd: control.socket.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals.number, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&polled, 2, -1) >= 0 else { return errno == EINTR }
        if polled[1].revents != 0, !relayDeaths() { return false }
        if polled[0].revents != 0 { return obey() }
        return true
    }

    private mutating func relayDeaths() -> Bool {
        sandbox_drain(signals.number)
        var remains = sandbox_remains()
        while unsafe sandbox_reap(-1, &remains) {
            if remains.process == first { return false }
            guard let id = children.removeValue(forKey: remains.process) else { continue }
            let ending = ProcessEnding(
                exitCode: remains.exit_code >= 0 ? remains.exit_code : nil,
                signal: remains.signal > 0 ? remains.signal : nil, cpuSeconds: remains.cpu_seconds,
                peakMemory: remains.peak_memory)
            guard (try? control.send(ZygoteMessage.ended(id: id, ending))) != nil else { return false }
        }
        return true
    }

    private mutating func obey() -> Bool {
        guard let (command, descriptors) = try? control.receive(ZygoteCommand.self) else { return false }
        guard case .fork(let id) = command, descriptors.count == 1 else { return false }
        return fork(id: id, over: Descriptor(owning: descriptors[0]))
    }

    private mutating func fork(id: Int, over socket: consuming Descriptor) -> Bool {
        let user = nextUser()
        let child = sandbox_fork()
        if child == 0 { live(over: socket, user: user) }
        guard child > 0 else {
            let reason = SystemError("fork").description
            return (try? control.send(ZygoteMessage.refused(id: id, reason: reason))) != nil
        }
        children[child] = id
        let pidfd = sandbox_pidfd(child)
        guard pidfd >= 0 else {
            kill(child, SIGKILL)
            let reason = SystemError("open a process's descriptor", code: -pidfd).description
            children[child] = nil
            return (try? control.send(ZygoteMessage.refused(id: id, reason: reason))) != nil
        }
        defer { close(pidfd) }
        return (try? control.send(ZygoteMessage.forked(id: id, pid: child), descriptors: [pidfd])) != nil
    }

    /// The life of a forked process.
    private mutating func live(over socket: consuming Descriptor, user: UInt32?) -> Never {
        let layers = sandbox.confine(keeping: socket.number, user: user, thorough: false)
        guard SandboxReport(layers: layers).missing(under: invocation.policy).isEmpty else {
            _exit(ProcessEnding.unconfined)
        }
        let process = CodecProcess(
            packets: Packets(socket), sources: invocation.sourcesPerProcess, addressSpace: addressSpace)
        process.serve(&codec)
        _exit(0)
    }

    /// Each process gets a user id of its own, so that none can signal or look into another.
    private mutating func nextUser() -> UInt32? {
        guard let users else { return nil }
        forks += 1
        let number = UInt32(truncatingIfNeeded: getpid()) &* 2048 &+ forks
        return users.lowerBound + number % UInt32(users.count)
    }

    /// SandboxConfiguration a process that has nothing else to do, and asks it what holds.
    private mutating func trial() throws(StartFailure) -> SandboxReport {
        let pair: PacketPair
        do { pair = try PacketPair() } catch { throw Self.fail(control, error) }
        let user = nextUser()
        let child = sandbox_fork()
        if child == 0 {
            let layers = sandbox.confine(keeping: pair.far.number, user: user, thorough: true)
            try? Packets(pair.far).send(SandboxReport(layers: layers))
            _exit(0)
        }
        guard child > 0 else { throw Self.fail(control, SystemError("fork")) }
        let packets = Packets(pair.keepingNear())
        guard let (report, _) = try? packets.receive(SandboxReport.self) else {
            let reason = "a process that was confined died of it"
            return SandboxReport(
                layers: SandboxLayer.allCases.map { SandboxLayerReport($0, .missing, reason: reason) })
        }
        return report
    }
}
