import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc
import Platform
import Synchronization

/// A zygote that was started and reported that its forks are confined.
final class RunningZygote: Sendable {
    let process: pid_t
    let decoderSet: DecoderSet
    private let pidfd: Descriptor
    private let control: PacketEnd
    let report: SandboxReport
    /// Bytes of address space that every fork starts with.
    let addressSpace: Int64
    private let state = Mutex(State())

    private struct State {
        var next = 0
        var forking: [Int: CheckedContinuation<Fork, Never>] = [:]
        /// The latest word on each process that was forked; nil while it runs.
        var endings: [Int: ProcessEnding] = [:]
        var watchers: [Int: CheckedContinuation<ProcessEnding?, Never>] = [:]
        var running: Set<Int> = []
        var taken = 0
        var isRetired = false
        var isDead = false
        var isGone = false
        var exitWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private enum Fork: Sendable {
        case forked(pid_t, pidfd: Int32)
        case refused(String)
        case dead
    }

    private init(
        process: pid_t, decoderSet: DecoderSet, pidfd: consuming Descriptor, control: consuming PacketEnd,
        report: SandboxReport, addressSpace: Int64
    ) {
        self.process = process
        self.decoderSet = decoderSet
        self.pidfd = pidfd
        self.control = control
        self.report = report
        self.addressSpace = addressSpace
    }

    // MARK: Start

    /// Starts the executable and waits until it says what holds.
    ///
    /// Where it has stand-ins and isn't ready with them, because a library was replaced since, it is started without.
    static func start(
        _ configuration: CodecPoolConfiguration, _ decoderSet: DecoderSet
    ) async throws(CodecPoolError) -> RunningZygote {
        var failure: String?
        if let standIns = configuration.standIns(for: decoderSet) {
            do {
                return try await start(configuration, decoderSet, standIns: standIns)
            } catch {
                guard case .cannotStart(_, let reason) = error else { throw error }
                failure = reason
            }
        }
        return try await start(configuration, decoderSet, standIns: "", after: failure)
    }

    /// - Parameter standInFailure: Why it didn't start with its stand-ins, where it was tried.
    private static func start(
        _ configuration: CodecPoolConfiguration, _ decoderSet: DecoderSet, standIns: String,
        after standInFailure: String? = nil
    ) async throws(CodecPoolError) -> RunningZygote {
        let path = configuration.executable(for: decoderSet).path(percentEncoded: false)
        func failure(_ reason: String) -> CodecPoolError { .cannotStart(path: path, reason: reason) }

        var sockets: [Int32] = [-1, -1]
        let code = unsafe sandbox_packet_pair(&sockets)
        /// Why a call failed, which says something about the executable only where the machine had enough of everything.
        func failure(_ error: SystemError) -> CodecPoolError {
            error.isShortage ? .outOfResources(reason: error.description) : failure(error.description)
        }
        guard code == 0 else { throw failure(SystemError("make a pair of sockets", code: code)) }
        let control = PacketEnd(Descriptor(owning: sockets[0]))
        let process = spawn(path, configuration, standIns: standIns, socket: Descriptor(owning: sockets[1]))
        guard process > 0 else {
            let error = SystemError("start a codec", code: -process)
            throw error.isShortage ? failure(error) : failure(error.reason)
        }
        let number = sandbox_pidfd(process)
        guard number >= 0 else { throw failure(SystemError("watch it", code: -number)) }
        let pidfd = Descriptor(owning: number)

        let reason: String
        switch await firstWord(control, until: .now + configuration.startup) {
        case .ready(var report, let addressSpace):
            report.standInFailure = standInFailure
            let missing = report.missing(under: configuration.sandbox)
            guard missing.isEmpty else {
                control.hangUp()
                await end(process, pidfd)
                throw .unconfined(missing, configuration.sandbox)
            }
            let zygote = RunningZygote(
                process: process, decoderSet: decoderSet, pidfd: pidfd, control: control, report: report,
                addressSpace: max(0, addressSpace))
            Task { await zygote.listen() }
            return zygote
        case .starved(let word):
            await end(process, pidfd)
            throw .outOfResources(reason: word.sanitized(500))
        case .failed(let word): reason = word.sanitized(500)
        case nil: reason = "it is no codec, or it ended before it was ready"
        default: reason = "it is no codec: its first message is not about what holds"
        }
        _ = sandbox_kill(pidfd.number)
        await end(process, pidfd)
        throw failure(reason)
    }

    private static func spawn(
        _ path: String, _ configuration: CodecPoolConfiguration, standIns: String, socket: consuming Descriptor
    ) -> pid_t {
        let invocation = CodecInvocation(
            policy: configuration.sandbox, sourcesPerProcess: configuration.sourcesPerProcess,
            fastHuffman: configuration.fastHuffman, standIns: standIns, rest: configuration.arguments)
        func block(_ strings: [String]) -> [CChar] { strings.flatMap { Array($0.utf8CString) } }
        let arguments = block([path] + invocation.arguments)
        let environment = block(invocation.environment)
        return unsafe sandbox_spawn(
            path, arguments, arguments.count, environment, environment.count, socket.number)
    }

    private static func firstWord(
        _ control: borrowing PacketEnd, until moment: ContinuousClock.Instant
    ) async -> ZygoteMessage? {
        guard await Readiness.shared.wait(for: control.socket.number, until: moment) == .ready,
            case .packet(let bytes, _) = control.receive(capacity: ZygoteMessage.maximumBytes)
        else { return nil }
        return try? JSON.decode(ZygoteMessage.self, from: bytes)
    }

    /// Waits until the process is gone, at first patiently, and reaps it.
    private static func end(_ process: pid_t, _ pidfd: borrowing Descriptor) async {
        // Not cancelled with whoever waits: a zombie would stay.
        let number = pidfd.number
        await Task.detached {
            if await Readiness.shared.wait(for: number, until: .now + .seconds(2)) != .ready {
                _ = sandbox_kill(number)
                _ = await Readiness.shared.wait(for: number, until: nil)
            }
            var remains = sandbox_remains()
            _ = unsafe sandbox_reap(process, &remains)
        }.value
    }

    // MARK: Forks

    var isDead: Bool { state.withLock { $0.isDead } }

    /// Processes that were given a source.
    var taken: Int { state.withLock { $0.taken } }

    /// Counts a process that was given a source.
    func countTaken() {
        state.withLock { $0.taken += 1 }
    }

    /// Has a process forked; nil where the zygote is dead.
    ///
    /// - Throws: ``CodecPoolError/outOfResources(reason:)``.
    func fork() async throws(CodecPoolError) -> CodecChild? {
        var sockets: [Int32] = [-1, -1]
        let code = unsafe sandbox_packet_pair(&sockets)
        guard code == 0 else {
            throw .outOfResources(reason: SystemError("make a pair of sockets", code: code).description)
        }
        let near = Descriptor(owning: sockets[0])
        let far = Descriptor(owning: sockets[1])
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let fork = await withCheckedContinuation { continuation in
            let isDead = state.withLock { state in
                if !state.isDead { state.forking[id] = continuation }
                return state.isDead
            }
            if isDead { return continuation.resume(returning: .dead) }
            if control.send(ZygoteCommand.fork(id: id), descriptors: [far.number]) != 0 { settle(id, .dead) }
        }
        switch fork {
        case .forked(let process, let pidfd):
            return CodecChild(
                id: id, process: process, pidfd: Descriptor(owning: pidfd), socket: near, zygote: self)
        case .refused(let reason): throw .outOfResources(reason: reason)
        case .dead: return nil
        }
    }

    /// Waits for the end of a process; nil where the zygote died before it could tell.
    func ending(of id: Int) async -> ProcessEnding? {
        await withCheckedContinuation { continuation in
            let known: ProcessEnding?? = state.withLock { state in
                if let ending = state.endings.removeValue(forKey: id) { return .some(ending) }
                if state.isDead { return .some(nil) }
                state.watchers[id] = continuation
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Answers whoever asked for a fork; a process that nobody asked for is killed.
    private func settle(_ id: Int, _ fork: Fork) {
        let continuation = state.withLock { state in
            if case .forked = fork { state.running.insert(id) }
            return state.forking.removeValue(forKey: id)
        }
        if let continuation {
            continuation.resume(returning: fork)
        } else if case .forked(_, let pidfd) = fork {
            _ = sandbox_kill(pidfd)
            close(pidfd)
        }
    }

    // MARK: End

    /// Lets the processes that run finish, then ends the zygote.
    func retire() {
        let isIdle = state.withLock { state in
            state.isRetired = true
            return state.running.isEmpty && state.forking.isEmpty
        }
        if isIdle { hangUp() }
    }

    /// Ends the zygote and all its processes.
    func hangUp() {
        control.hangUp()
    }

    /// Waits until the zygote is reaped.
    func gone() async {
        await withCheckedContinuation { continuation in
            let isGone = state.withLock { state in
                if !state.isGone { state.exitWaiters.append(continuation) }
                return state.isGone
            }
            if isGone { continuation.resume() }
        }
    }

    private func listen() async {
        var isOpen = true
        while isOpen {
            _ = await Readiness.shared.wait(for: control.socket.number, until: nil)
            reading: while true {
                switch control.receive(capacity: ZygoteMessage.maximumBytes, descriptors: 1) {
                case .packet(let bytes, let descriptors):
                    isOpen = receive(bytes, descriptors)
                    if !isOpen { break reading }
                case .nothing: break reading
                case .ended, .refused:
                    isOpen = false
                    break reading
                }
            }
        }
        control.hangUp()
        markTerminated()
        await Self.end(process, pidfd)
        let exitWaiters = state.withLock { state in
            state.isGone = true
            defer { state.exitWaiters = [] }
            return state.exitWaiters
        }
        for waiter in exitWaiters { waiter.resume() }
    }

    private func receive(_ bytes: Data, _ descriptors: [Int32]) -> Bool {
        switch try? JSON.decode(ZygoteMessage.self, from: bytes) {
        case .forked(let id, let process) where descriptors.count == 1:
            settle(id, .forked(process, pidfd: descriptors[0]))
            return true
        case .refused(let id, let reason) where descriptors.isEmpty:
            settle(id, .refused(reason.sanitized(500)))
            return true
        case .ended(let id, let ending) where descriptors.isEmpty:
            let (watcher, isOver) = state.withLock { state in
                let watcher = state.watchers.removeValue(forKey: id)
                if watcher == nil { state.endings[id] = ending }
                state.running.remove(id)
                return (watcher, state.isRetired && state.running.isEmpty && state.forking.isEmpty)
            }
            watcher?.resume(returning: ending)
            if isOver { hangUp() }
            return true
        default:
            for descriptor in descriptors { close(descriptor) }
            return false
        }
    }

    /// Nobody will be told of its processes any more.
    private func markTerminated() {
        let (forking, watchers) = state.withLock { state in
            state.isDead = true
            defer {
                state.forking = [:]
                state.watchers = [:]
            }
            return (state.forking.values, state.watchers.values)
        }
        for continuation in forking { continuation.resume(returning: .dead) }
        for continuation in watchers { continuation.resume(returning: nil) }
    }
}
