import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc
import Platform
import Synchronization

/// The service's side of one source's conversation with one process.
struct Conversation {
    let child: CodecChild
    let configuration: CodecPoolConfiguration
    let ledger: CodecLedger
    let order: WorkOrder
    let turn: CodecPool.Turn
    let started: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant?
    /// When the process should be done by itself.
    let finishBy: ContinuousClock.Instant?

    /// How a conversation ends before its end. The process was killed or has ended already.
    enum Failure: Error {
        /// For the sender of the source.
        case refused(AttachmentError)
        /// Processes, threads, descriptors or memory were missing. The text is for the log.
        case starved(String)
        /// The process died, fell silent or lied; another may do better.
        case crashed(AttachmentError)
    }

    /// Sends the order and hears what the source is; nil where a process of the full decoder set must say.
    func identify(_ source: borrowing Descriptor) async throws(Failure) -> ProbeResult? {
        limit(memory: min(configuration.identifyMemory, order.ceilings.memory))
        // A codec that could do with less must not estimate more than is ever granted.
        var capped = order
        capped.ceilings.memory = min(order.ceilings.memory, max(configuration.memory, configuration.identifyMemory))
        guard let packet = Self.packet(of: capped) else {
            throw abandon(ProtocolViolation("an order that can't be written"))
        }
        try await sent(child.packets.send(packet: packet, descriptors: [source.number]))
        switch try await receive() {
        case .probeResult(let probeResult):
            let checked = try believe { () throws(ProtocolViolation) in try probeResult.checked(for: order) }
            guard order.profile.accepts(checked.kind) else {
                throw end(.refused(.unacceptedKind(kind: checked.kind, profile: order.profile.name)))
            }
            return checked
        case .failed(let error): throw try refusal(error)
        case .beyondDecoderSet:
            guard child.zygote.decoderSet == .common else {
                throw abandon(ProtocolViolation("a source beyond the full decoder set"))
            }
            return nil
        case .rendition, .finished: throw abandon(ProtocolViolation("a rendition before the probe result"))
        }
    }

    /// Ends the conversation; the process goes on to its next source, if any.
    func stop() async throws(Failure) {
        try await send(.stop)
    }

    /// Lets the process make `outputs` and hands on what it reports.
    ///
    /// - Parameter granted: Bytes of memory.
    func render(
        _ probeResult: ProbeResult, outputs: [CodecOutput], granted: Int64,
        received: (RenditionReport) async throws(AttachmentError) -> Void
    ) async throws(Failure) -> Ending {
        var files: [RenditionRole: OutputFile] = [:]
        var writers: [Int32] = []
        for output in outputs {
            guard files[output.role] == nil, let file = OutputFile(output), let writer = output.withNumber({ $0 })
            else {
                let error = SystemError("open an output")
                throw end(
                    error.isShortage
                        ? .starved(error.description)
                        : .refused(.storeFailed(reason: "an output is closed or was ordered twice")))
            }
            files[output.role] = file
            writers.append(writer)
        }
        let address = UInt64(max(0, child.zygote.addressSpace + Ceilings.addressSpaceSlack + granted))
        child.limit(sandbox_address_space, address, configuration.sourcesPerProcess == 1 ? address : sandbox_unlimited)
        let command = RenderCommand(
            memory: granted, outputs: outputs.map(\.role),
            niceness: turn.isSparing ? RenderCommand.sparingNiceness : 0,
            secondsLeft: finishBy.map { max(0, ContinuousClock.now.duration(to: $0).inSeconds) })
        try await send(.proceed(command), descriptors: writers)
        for output in outputs { output.close() }

        while true {
            switch try await receive(granted: granted) {
            case .rendition(let report):
                guard let file = files.removeValue(forKey: report.role) else {
                    throw abandon(ProtocolViolation("'\(report.role.rawValue)' was reported twice or never ordered"))
                }
                let actual = file.size
                let checked = try believe { () throws(ProtocolViolation) in
                    try report.checked(for: order, probeResult: probeResult, actual: actual)
                }
                do {
                    try await received(checked)
                } catch {
                    throw end(.refused(error))
                }
            case .finished(let ending): return try believe { () throws(ProtocolViolation) in try ending.checked() }
            case .failed(let error): throw try refusal(error)
            case .probeResult, .beyondDecoderSet: throw abandon(ProtocolViolation("a probe result a second time"))
            }
        }
    }

    // MARK: Messages

    /// An order's message. One follows another that is the same but for its source: the latest is remembered.
    private static func packet(of order: WorkOrder) -> Data? {
        if let known = latest.withLock(\.self), known.order == order { return known.packet }
        guard let packet = try? JSON.encode(ServiceMessage.order(order)) else { return nil }
        latest.withLock { $0 = (order, packet) }
        return packet
    }

    private static let latest = Mutex<(order: WorkOrder, packet: Data)?>(nil)

    private func send(_ message: ServiceMessage, descriptors: [Int32] = []) async throws(Failure) {
        try await sent(child.packets.send(message, descriptors: descriptors))
    }

    /// - Parameter code: What sending came to.
    private func sent(_ code: Int32) async throws(Failure) {
        switch code {
        case 0: return
        case EPIPE, ECONNRESET: throw await death(granted: nil)
        default:
            let error = SystemError("give it a message", code: code)
            // A full socket is the process's fault.
            if code != EAGAIN, error.isShortage { throw end(.starved(error.description)) }
            throw abandon(ProtocolViolation(error.description))
        }
    }

    /// The next message. Waits as long as the process uses CPU time, up to its limit, or the silence lasts.
    private func receive(granted: Int64? = nil) async throws(Failure) -> CodecMessage {
        var spent = child.cpuSeconds ?? 0
        while true {
            switch child.packets.receive(capacity: CodecMessage.maximumBytes) {
            case .packet(let bytes, _):
                guard let message = try? JSON.decode(CodecMessage.self, from: bytes) else {
                    throw abandon(ProtocolViolation("a message that is none"))
                }
                return message
            case .refused(let reason): throw abandon(ProtocolViolation(reason))
            case .ended: throw await death(granted: granted)
            case .nothing: break
            }
            let silence = ContinuousClock.now + configuration.silence
            let moment = min(silence, deadline ?? silence)
            switch await Readiness.shared.wait(for: child.packets.socket.number, until: moment) {
            case .ready: continue
            case .cancelled: throw late()
            case .late:
                if let deadline, deadline <= .now { throw late() }
                // A thousandth of the time would be a process that pretends.
                guard let now = child.cpuSeconds else { continue }
                guard now - spent > configuration.silence.inSeconds / 100 else {
                    let seconds = configuration.silence.inSeconds
                    ledger.died(of: .silence)
                    throw end(.crashed(.codecCrashed(reason: "silent and idle for \(seconds) s")))
                }
                spent = now
            }
        }
    }

    // MARK: Limits

    private func limit(memory: Int64) {
        let isLast = configuration.sourcesPerProcess == 1
        let base = child.zygote.addressSpace + Ceilings.addressSpaceSlack
        let most = UInt64(max(0, base + order.ceilings.memory))
        child.limit(sandbox_address_space, UInt64(max(0, base + memory)), isLast ? most : sandbox_unlimited)
        let seconds = UInt64(max(0, child.cpuSeconds ?? 0)) + UInt64(max(1, order.ceilings.cpuSeconds))
        child.limit(sandbox_cpu_seconds, seconds, isLast ? seconds + 1 : sandbox_unlimited)
        let bytes = UInt64(max(0, order.ceilings.fileBytes))
        child.limit(sandbox_file_bytes, bytes, isLast ? bytes : sandbox_unlimited)
    }

    // MARK: Failures

    /// Kills the process; `failure` is what to throw.
    private func end(_ failure: Failure) -> Failure {
        child.kill()
        return failure
    }

    private func abandon(_ violation: ProtocolViolation) -> Failure {
        ledger.died(of: .breach)
        return end(.crashed(violation.error))
    }

    private func late() -> Failure {
        ledger.died(of: .deadline)
        return end(.refused(.deadlineExceeded(seconds: started.duration(to: .now).inSeconds)))
    }

    private func believe<Value>(_ check: () throws(ProtocolViolation) -> Value) throws(Failure) -> Value {
        do {
            return try check()
        } catch {
            throw abandon(error)
        }
    }

    /// The process refused the source and is as good as before.
    private func refusal(_ error: AttachmentError) throws(Failure) -> Failure {
        let checked = try believe { () throws(ProtocolViolation) in try error.checkedRefusal() }
        return checked.code == .codecCrashed ? end(.crashed(checked)) : .refused(checked)
    }

    /// Why the process's end of the socket is closed.
    private func death(granted: Int64?) async -> Failure {
        guard await child.dies(before: .now + .seconds(1)) else {
            return abandon(ProtocolViolation("hung up and lived on"))
        }
        guard let ending = await child.zygote.ending(of: child.id) else {
            ledger.died(of: .starved)
            return .starved("a zygote died, perhaps for want of memory")
        }
        ledger.ended(ending)
        let failure = ending.explained(
            memory: granted ?? min(configuration.identifyMemory, order.ceilings.memory),
            cpuSeconds: order.ceilings.cpuSeconds)
        switch failure {
        case .refused: ledger.died(of: .limit)
        case .crashed: ledger.died(of: .crash)
        case .starved: ledger.died(of: .starved)
        }
        return failure
    }
}

/// A view of an output that can't write: what the process made is judged by the kernel's word.
private final class OutputFile: Sendable {
    private let reader: Descriptor

    init?(_ output: CodecOutput) {
        // A new open file, not a duplicate: a duplicate would be one more writer.
        let number = output.withNumber { unsafe open("/proc/self/fd/\($0)", O_RDONLY | O_CLOEXEC) }
        guard let number, number >= 0 else { return nil }
        reader = Descriptor(owning: number)
    }

    /// Bytes.
    var size: Int64 {
        var status = stat()
        return unsafe fstat(reader.number, &status) == 0 ? Int64(status.st_size) : -1
    }
}

extension ProcessEnding {
    /// What a death that wasn't asked for says about the source.
    func explained(memory: Int64, cpuSeconds limit: Int) -> Conversation.Failure {
        if exitCode == Self.memoryExhausted {
            return .refused(.tooExpensive(resource: "memory", granted: "\(memory >> 20) MiB"))
        }
        if exitCode == Self.unconfined { return .starved("a codec process could not be confined") }
        if exitCode == Self.starved { return .starved("a codec process could not start a thread") }
        // The soft limit gives SIGXCPU, the hard one a second later SIGKILL.
        if signal == SIGXCPU || (signal == SIGKILL && cpuSeconds >= Double(limit)) {
            return .refused(.tooExpensive(resource: "CPU time", granted: "\(limit) s"))
        }
        switch (signal, exitCode) {
        case (SIGSYS?, _): return .crashed(.codecCrashed(reason: "made a system call that is not allowed"))
        case (SIGKILL?, _): return .starved("a codec process was killed from outside, perhaps for want of memory")
        case (let signal?, _): return .crashed(.codecCrashed(reason: "died of signal \(signal)"))
        case (nil, let code): return .crashed(.codecCrashed(reason: "ended with \(code ?? 0) in mid-conversation"))
        }
    }
}
