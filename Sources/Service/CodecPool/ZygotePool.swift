import SatchelCore
import FoundationEssentials

/// Keeps a zygote of one decoder set at work, another in reserve, and processes ready.
actor ZygotePool {
    private let configuration: CodecPoolConfiguration
    private let decoderSet: DecoderSet
    private var zygotes: [RunningZygote] = []
    private var retired: [RunningZygote] = []
    private var spares: [ObjectIdentifier: [CodecChild]] = [:]
    /// Forks under way, by zygote.
    private var expected: [ObjectIdentifier: Int] = [:]
    /// Between two sources of one owner, oldest first.
    private var kept: [(owner: CodecPool.Owner, child: CodecChild, served: Int)] = []
    private var starting: Task<RunningZygote, any Error>?
    private var isShut = false
    /// Nothing is started ahead of need until then.
    private var scarceUntil = ContinuousClock.now
    private let ledger: CodecLedger

    init(_ configuration: CodecPoolConfiguration, _ decoderSet: DecoderSet, _ ledger: CodecLedger) {
        self.configuration = configuration
        self.decoderSet = decoderSet
        self.ledger = ledger
    }

    var isReady: Bool { !isShut && zygotes.contains { !$0.isDead } }

    /// The first zygote at work.
    func open() async throws(CodecPoolError) -> SandboxReport {
        let zygote = try await newZygote()
        await fill(zygote)
        restock()
        return zygote.report
    }

    /// A process for a source, and how many it served before.
    ///
    /// - Parameter avoided: The zygote in whose process the source crashed before.
    func take(
        for owner: CodecPool.Owner?, avoiding avoided: RunningZygote?
    ) async throws(CodecPoolError) -> (child: CodecChild, served: Int) {
        if let owner, let index = kept.lastIndex(where: { $0.owner == owner && $0.child.zygote !== avoided }) {
            let (_, child, served) = kept.remove(at: index)
            if child.isAlive { return (child, served) }
        }
        while !isShut {
            sweep()
            let zygote: RunningZygote
            if let present = zygotes.first(where: { $0 !== avoided }) {
                zygote = present
            } else {
                zygote = try await newZygote()
            }
            let child: CodecChild
            if let spare = spares[ObjectIdentifier(zygote)]?.popLast() {
                guard spare.isAlive else { continue }
                child = spare
            } else if let fork = try await zygote.fork() {
                child = fork
            } else {
                zygote.hangUp()
                zygotes.removeAll { $0 === zygote }
                continue
            }
            zygote.countTaken()
            renew(zygote)
            Task { await self.refill() }
            return (child, 0)
        }
        throw .cannotStart(
            path: configuration.executable(for: decoderSet).path(percentEncoded: false), reason: "the pool is shut")
    }

    /// Whether a zygote lives, or another can be started.
    var isWorking: Bool {
        get async {
            if isReady { return true }
            sweep()
            guard !isShut else { return false }
            do {
                _ = try await newZygote()
                return true
            } catch {
                return false
            }
        }
    }

    /// Keeps a process for its owner's next source.
    func keep(_ child: CodecChild, for owner: CodecPool.Owner, served: Int) {
        guard !isShut, child.isAlive else { return child.kill() }
        kept.append((owner, child, served))
        if kept.count > configuration.codecs { kept.removeFirst().child.kill() }
    }

    /// A process of `zygote` crashed: the reserve takes over, which is started where there was no work for one yet, so
    /// that whoever tries the same source again gets another address layout.
    func crashed(_ zygote: RunningZygote) async {
        if configuration.sourcesBeforeReserve > 0, zygotes.count == 1, zygotes[0] === zygote {
            _ = try? await newZygote()
        }
        guard zygotes.count > 1, zygotes[0] === zygote else { return }
        zygotes.swapAt(0, 1)
        Task { await self.refill() }
    }

    /// Gives up the processes that were started ahead of need: others lack them.
    func relent() {
        scarceUntil = .now + .seconds(10)
        for child in spares.values.joined() { child.kill() }
        spares = [:]
        for zygote in zygotes.dropFirst() {
            retired.append(zygote)
            zygote.retire()
        }
        zygotes = Array(zygotes.prefix(1))
    }

    func close() async {
        isShut = true
        _ = try? await starting?.value
        for child in kept.map(\.child) + spares.values.joined() { child.kill() }
        kept = []
        spares = [:]
        let all = zygotes + retired
        zygotes = []
        retired = []
        for zygote in all { zygote.hangUp() }
        for zygote in all { await zygote.gone() }
    }

    // MARK: Stock

    private func newZygote() async throws(CodecPoolError) -> RunningZygote {
        let (configuration, decoderSet) = (configuration, decoderSet)
        let task = starting ?? Task { try await RunningZygote.start(configuration, decoderSet) }
        starting = task
        do {
            let zygote = try await task.value
            if starting == task {
                starting = nil
                ledger.zygoteStarted()
                if isShut {
                    zygote.hangUp()
                    retired.append(zygote)
                } else {
                    zygotes.append(zygote)
                }
            }
            return zygote
        } catch {
            if starting == task { starting = nil }
            throw error as? CodecPoolError
                ?? .cannotStart(
                    path: configuration.executable(for: decoderSet).path(percentEncoded: false), reason: "\(error)")
        }
    }

    /// Removes what is dead.
    private func sweep() {
        zygotes.removeAll(where: \.isDead)
        retired.removeAll(where: \.isDead)
        let living = Set(zygotes.map(ObjectIdentifier.init))
        for (zygote, children) in spares where !living.contains(zygote) {
            for child in children { child.kill() }
            spares[zygote] = nil
        }
        restock()
    }

    /// Has a zygote in reserve, as soon as there is work enough for it. Where none can be started, the next source that
    /// needs one is told why.
    private func restock() {
        guard !isShut, scarceUntil < .now, zygotes.count < 2, starting == nil else { return }
        if let only = zygotes.first, only.taken < configuration.sourcesBeforeReserve { return }
        Task { _ = try? await self.newZygote() }
    }

    private func renew(_ zygote: RunningZygote) {
        guard zygote.taken >= configuration.sourcesPerZygote else { return }
        zygotes.removeAll { $0 === zygote }
        for child in spares.removeValue(forKey: ObjectIdentifier(zygote)) ?? [] { child.kill() }
        retired.append(zygote)
        zygote.retire()
        restock()
    }

    private func refill() async {
        guard let zygote = zygotes.first else { return }
        await fill(zygote)
    }

    /// Processes that are ready ahead of need: one for each codec. A shared one comes back, so that one more will do.
    private var stock: Int { configuration.sourcesPerProcess > 1 ? 1 : configuration.codecs }

    /// Forks until the stock is complete.
    private func fill(_ zygote: RunningZygote) async {
        let key = ObjectIdentifier(zygote)
        while !isShut, scarceUntil < .now, zygotes.first === zygote,
            (spares[key]?.count ?? 0) + (expected[key] ?? 0) < stock
        {
            expected[key, default: 0] += 1
            let child = try? await zygote.fork()
            expected[key, default: 1] -= 1
            if expected[key] == 0 { expected[key] = nil }
            guard let child else { return }
            guard !isShut, zygotes.contains(where: { $0 === zygote }) else { return child.kill() }
            spares[key, default: []].append(child)
        }
    }
}
