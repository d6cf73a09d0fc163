import SatchelCore
import CSandbox
import FoundationEssentials
import Glibc

/// A confined process's side of the conversation.
struct CodecProcess: ~Copyable {
    let packets: Packets
    /// Sources to serve before it ends.
    let sources: Int
    /// Bytes of address space that it started with.
    let addressSpace: Int64

    /// Serves until its sources are used up or the service hangs up.
    borrowing func serve<Codec: ConfinedCodec & ~Copyable>(_ codec: inout Codec) {
        var orders = Orders()
        for _ in 0..<sources {
            guard (try? serveOne(&codec, &orders)) != nil else { return }
        }
    }

    private borrowing func serveOne<Codec: ConfinedCodec & ~Copyable>(
        _ codec: inout Codec, _ orders: inout Orders
    ) throws(Packets.Ended) {
        let (packet, descriptors) = try packets.receive(capacity: CodecMessage.maximumBytes)
        guard let order = orders.read(packet), descriptors.count == 1 else { throw Packets.Ended() }
        let source = Descriptor(owning: descriptors[0])
        // The codec may hold the descriptor until then.
        defer {
            codec.forget()
            _ = source.number
        }
        limit(to: order.ceilings)

        let probeResult: ProbeResult
        do {
            probeResult = try codec.identify(source: source.number, order: order)
        } catch {
            switch error {
            case .refused(let error): return try packets.send(CodecMessage.failed(error))
            case .beyondDecoderSet: return try packets.send(CodecMessage.beyondDecoderSet)
            }
        }
        try packets.send(CodecMessage.probeResult(probeResult))

        let (answer, writers) = try packets.receive(ServiceMessage.self)
        var outputs = Outputs(numbers: writers)
        guard case .proceed(let command) = answer else {
            guard case .stop = answer else { throw Packets.Ended() }
            return
        }
        guard outputs.name(command.outputs) else { throw Packets.Ended() }
        let memory = UInt64(max(0, addressSpace + Ceilings.addressSpaceSlack + command.memory))
        _ = sandbox_limit(0, sandbox_address_space, memory, sandbox_unlimited)
        // Before the decoders start their threads, which inherit it.
        if command.niceness > 0 {
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Int32(min(command.niceness, 19)))
        }

        // What ends the conversation inside `deliver` can't be thrown through the codec as what it is.
        var hungUp = false
        do {
            let ending = try codec.render(command, outputs: outputs.byRole) { report throws(AttachmentError) in
                guard outputs.close(report.role) else {
                    throw .codecCrashed(reason: "'\(report.role.rawValue)' was delivered twice or never ordered")
                }
                do throws(Packets.Ended) {
                    try packets.send(CodecMessage.rendition(report.bounded))
                } catch {
                    hungUp = true
                    throw .codecCrashed(reason: "the service hung up")
                }
            }
            outputs.closeAll()
            try packets.send(CodecMessage.finished(ending.bounded))
        } catch let error as AttachmentError {
            if hungUp { throw Packets.Ended() }
            outputs.closeAll()
            try packets.send(CodecMessage.failed(error))
        } catch {
            throw Packets.Ended()
        }
    }

    /// The service lowers the limits from outside, where it may, and further; this is for where it may not.
    private borrowing func limit(to ceilings: Ceilings) {
        let memory = UInt64(max(0, addressSpace + Ceilings.addressSpaceSlack + ceilings.memory))
        let last = sources == 1
        if !last || sandbox_limit_of(sandbox_address_space) > memory {
            _ = sandbox_limit(0, sandbox_address_space, memory, last ? memory : sandbox_unlimited)
        }
        let used = UInt64(clock() / CLOCKS_PER_SEC)
        let seconds = used + UInt64(max(1, ceilings.cpuSeconds))
        _ = sandbox_limit(0, sandbox_cpu_seconds, seconds, last ? seconds + 1 : sandbox_unlimited)
        let bytes = UInt64(max(0, ceilings.fileBytes))
        _ = sandbox_limit(0, sandbox_file_bytes, bytes, last ? bytes : sandbox_unlimited)
    }
}

/// Reads orders. One follows another that is the same but for its source: the latest is remembered.
struct Orders {
    private var packet = Data()
    private var order: WorkOrder?

    /// Nil for what is none.
    mutating func read(_ packet: Data) -> WorkOrder? {
        if let order, packet == self.packet { return order }
        guard case .order(let order) = try? JSON.decode(ServiceMessage.self, from: packet) else { return nil }
        self.packet = packet
        self.order = order
        return order
    }
}

/// The descriptors that came with a go-ahead.
struct Outputs {
    private var unnamed: [Int32]
    private(set) var byRole: [RenditionRole: Int32] = [:]

    init(numbers: [Int32]) {
        unnamed = numbers
    }

    /// Gives each descriptor its role; false where they don't match.
    mutating func name(_ roles: [RenditionRole]) -> Bool {
        guard roles.count == unnamed.count, Set(roles).count == roles.count else { return false }
        byRole = Dictionary(uniqueKeysWithValues: zip(roles, unnamed))
        unnamed = []
        return true
    }

    mutating func close(_ role: RenditionRole) -> Bool {
        guard let number = byRole.removeValue(forKey: role) else { return false }
        Glibc.close(number)
        return true
    }

    mutating func closeAll() {
        for number in byRole.values { Glibc.close(number) }
        byRole = [:]
    }
}

extension RenditionReport {
    /// Short enough for a packet.
    fileprivate var bounded: RenditionReport {
        var report = self
        report.note = String(note.prefix(1000))
        return report
    }
}

extension Ending {
    /// Short enough for a packet.
    fileprivate var bounded: Ending {
        var ending = self
        ending.warnings = warnings.prefix(32).map { String($0.prefix(300)) }
        for path in [\Diagnosis.evidence, \.omissions, \.losses, \.changes] {
            ending.diagnosis[keyPath: path] = Array(diagnosis[keyPath: path].prefix(16))
        }
        return ending
    }
}
