public import SatchelCore
import FoundationEssentials
import Glibc
import Platform

/// Keeps confined codec processes ready and gives each source one of its own.
///
/// A source that crashes its process, floods, lies, falls silent or uses more than it was granted fails alone: see
/// ``process(_:order:owner:deadline:decide:received:)``.
public final class CodecPool: Sendable {
    /// People whose files may share a process, where ``CodecPoolConfiguration/sourcesPerProcess`` is over 1. Files of
    /// two owners never do.
    public struct Owner: Hashable, Sendable {
        public var name: String

        public init(name: String) {
            self.name = name
        }
    }

    /// How a source takes its turn among others.
    public enum Turn: Hashable, Sendable {
        /// Before patient ones.
        case prompt
        /// After prompt ones, but every ninth at the latest.
        case patient
        /// Patiently and at a lower priority for the processor, beside whoever waits for an answer: a quarter of the places
        /// stays free for prompt sources where there are two or more.
        case bulk
        /// As bulk, and beside few others of its kind: of the places, two stay free for other sources where there are more,
        /// and of the memory a quarter.
        case costly

        /// Whether it leaves what is kept for prompt sources alone, and the processor to them.
        var isSparing: Bool { self == .bulk || self == .costly }
    }

    let configuration: CodecPoolConfiguration
    /// Limits that are too low for the codecs that were asked for; nil where there is none.
    public let lack: (text: String, isFatal: Bool)?
    private let common: ZygotePool
    private let full: ZygotePool
    let ledger: CodecLedger
    /// One for each source that is worked on.
    private let places: AsyncSemaphore
    let memory: AsyncSemaphore
    /// What sources may have of it that lie in memory themselves.
    let sourceMemory: AsyncSemaphore
    /// What costly sources may have of them.
    private let costlyPlaces: AsyncSemaphore
    private let costlyMemory: AsyncSemaphore

    public init(_ configuration: CodecPoolConfiguration) {
        var configuration = configuration
        lack = configuration.fit()
        self.configuration = configuration
        ledger = CodecLedger(places: configuration.codecs, memory: configuration.memory)
        common = ZygotePool(configuration, .common, ledger)
        full = ZygotePool(configuration, .full, ledger)
        places = AsyncSemaphore(
            capacity: Int64(configuration.codecs),
            kept: Int64(configuration.codecs - ReservedPlaces.bulk(of: configuration.codecs)))
        memory = AsyncSemaphore(capacity: configuration.memory)
        sourceMemory = AsyncSemaphore(capacity: configuration.sourceMemory)
        costlyPlaces = AsyncSemaphore(capacity: Int64(configuration.costlyCodecs))
        costlyMemory = AsyncSemaphore(capacity: configuration.costlyMemory)
    }

    public var statistics: CodecStatistics { ledger.statistics }

    /// Since when a source has been waiting for a place, of the prompt or the patient ones; nil where none waits.
    package func waitingSince(patiently isPatient: Bool) -> ContinuousClock.Instant? {
        places.waitingSince(patiently: isPatient)
    }

    /// Starts the first zygote and looks at what confines its processes.
    ///
    /// A zygote of the other decoder set is started when a source needs it.
    ///
    /// - Parameter decoder set: What the first sources need.
    /// - Returns: What holds on this machine.
    /// - Throws: ``CodecPoolError``: nothing was started.
    @discardableResult
    public func start(_ decoderSet: DecoderSet = .common) async throws(CodecPoolError) -> SandboxReport {
        if let lack {
            guard !lack.isFatal else { throw .outOfResources(reason: lack.text) }
            if ledger.lacked(lack.text) { configuration.onShortage(lack.text) }
        }
        let report = try await zygotes(decoderSet).open()
        let lacking = report.missing(under: .standard)
        if configuration.sandbox == .allowUnsandboxed, !lacking.isEmpty {
            let list = lacking.map(\.layer.title).joined(separator: ", ")
            let warning = "satchel: WARNING: hostile files are decoded without: \(list) (--allow-unsandboxed).\n"
            _ = unsafe Array(warning.utf8).withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
        }
        return report
    }

    /// Has `source` identified and rendered by a process that serves nothing else.
    ///
    /// Waits its turn: for a process, then for its memory. The renditions come one by one, smallest first; what `received`
    /// takes until it returns doesn't count as the codec's silence.
    ///
    /// A crash is retried here, once and in another zygote, as long as `decide` wasn't called; afterwards the
    /// outputs are spoilt and the caller repeats the whole attempt (``Backoff`` allows one).
    ///
    /// - Parameters:
    ///   - source: Read-only; the process gets a duplicate.
    ///   - decoder set: What the source probably needs. One that turns out to need more is given to another process.
    ///   - owner: Whose file it is; nil shares a process with nobody.
    ///   - turn: Whom it goes before, and how much it may use.
    ///   - party: For whom; among equal turns places are shared fairly between parties.
    ///   - deadline: The process is killed then. What it takes to die isn't waited for.
    ///   - finishBy: The process is told to be done by then, with less where that is needed; nil for no hurry.
    ///   - decide: What to make of the source. An error thrown here ends the process and is thrown on.
    ///   - received: A rendition is finished and its descriptor closed in the process.
    /// - Throws: What the codec refused the source for; `codec_crashed`, `too_expensive`, `deadline_exceeded` (also
    ///   where the task was cancelled); `store_failed` where no process can be had.
    public func process(
        _ source: borrowing Descriptor, order: WorkOrder, decoderSet: DecoderSet = .common, owner: Owner? = nil,
        turn: Turn = .prompt, party: String = "", deadline: ContinuousClock.Instant? = nil,
        finishBy: ContinuousClock.Instant? = nil,
        decide: (ProbeResult) async throws(AttachmentError) -> CodecDecision,
        received: (RenditionReport) async throws(AttachmentError) -> Void
    ) async throws(AttachmentError) -> CodecResult {
        try await process(
            source, order: order, decoderSet: decoderSet, owner: owner, turn: turn, party: party, deadline: deadline,
            finishBy: finishBy, holding: nil, open: Self.asItIs, decide: decide, received: received)
    }

    /// The same for a source that has to be opened in memory first.
    ///
    /// - Parameters:
    ///   - held: Bytes of memory that it takes by itself while a process has it; nil where it is read as it is.
    ///   - open: Makes of it, when there is memory, what the process reads.
    package func process(
        _ source: borrowing Descriptor, order: WorkOrder, decoderSet: DecoderSet, owner: Owner?, turn: Turn,
        party: String, deadline: ContinuousClock.Instant?, finishBy: ContinuousClock.Instant?, holding held: Int64?,
        open: (borrowing Descriptor) async throws(AttachmentError) -> Descriptor,
        decide: (ProbeResult) async throws(AttachmentError) -> CodecDecision,
        received: (RenditionReport) async throws(AttachmentError) -> Void
    ) async throws(AttachmentError) -> CodecResult {
        let started = ContinuousClock.now
        func late() -> AttachmentError { .deadlineExceeded(seconds: started.duration(to: .now).inSeconds) }
        if turn == .costly {
            guard await costlyPlaces.acquire(1, until: deadline, for: party) == .granted else { throw late() }
        }
        defer { if turn == .costly { costlyPlaces.release(1) } }
        let place = await places.acquire(
            1, until: deadline, patiently: turn != .prompt, sparing: turn.isSparing, for: party)
        guard place == .granted else { throw late() }
        ledger.places(1, costly: turn == .costly)
        defer {
            ledger.places(-1, costly: turn == .costly)
            places.release(1, sparing: turn.isSparing)
        }
        func serve(
            _ source: borrowing Descriptor, _ order: WorkOrder
        ) async throws(AttachmentError) -> CodecResult {
            try await self.serve(
                source, order: order, decoderSet: decoderSet, owner: owner, turn: turn, started: started,
                deadline: deadline, finishBy: finishBy, decide: decide, received: received)
        }
        guard let held else { return try await serve(source, order) }
        var bounded = order
        bounded.ceilings.memory = min(order.ceilings.memory, configuration.memory - configuration.sourceMemory)
        let hold = try await hold(held, patiently: turn != .prompt, until: deadline)
        let opened = try await open(source)
        let result = try await serve(opened, bounded)
        _ = consume hold
        return result
    }

    package static func asItIs(_ source: borrowing Descriptor) throws(AttachmentError) -> Descriptor {
        do { return try source.duplicate() } catch { throw AttachmentError(error) }
    }

    /// Has a source identified and rendered by one of the processes, in a place that was taken for it.
    private func serve(
        _ source: borrowing Descriptor, order: WorkOrder, decoderSet: DecoderSet, owner: Owner?, turn: Turn,
        started: ContinuousClock.Instant, deadline: ContinuousClock.Instant?, finishBy: ContinuousClock.Instant?,
        decide: (ProbeResult) async throws(AttachmentError) -> CodecDecision,
        received: (RenditionReport) async throws(AttachmentError) -> Void
    ) async throws(AttachmentError) -> CodecResult {
        var decoderSet = decoderSet
        var crashed: RunningZygote?
        var shortages = 0
        while true {
            let taken: (child: CodecChild, served: Int)
            do {
                taken = try await take(decoderSet, for: owner, avoiding: crashed)
            } catch .outOfResources(let reason) {
                try await wait(after: &shortages, reason, until: deadline)
                continue
            } catch {
                throw .outOfResources(reason: error.description)
            }
            let (child, served) = taken
            ledger.processTaken()
            let conversation = Conversation(
                child: child, configuration: configuration, ledger: ledger, order: order, turn: turn, started: started,
                deadline: deadline, finishBy: finishBy)
            let probeResult: ProbeResult?
            do {
                probeResult = try await conversation.identify(source)
            } catch {
                switch error {
                case .crashed(let error):
                    await zygotes(decoderSet).crashed(child.zygote)
                    guard crashed == nil else { throw error }
                    crashed = child.zygote
                    continue
                case .starved(let reason):
                    try await wait(after: &shortages, reason, until: deadline)
                    continue
                case .refused(let error):
                    await letGo(of: child, after: error, owner: owner, served: served)
                    throw error
                }
            }
            guard let probeResult else {
                decoderSet = .full
                await pass(child, owner: owner, served: served)
                continue
            }
            return try await finish(
                conversation, probeResult, owner: owner, served: served, decide: decide, received: received)
        }
    }

    /// What codec processes lacked during the last half minute, for an operator; nil where they had enough.
    public var shortage: String? { ledger.shortage }

    /// Notes that the machine refused what a codec process needs. That says nothing about the source.
    private func starved(_ reason: String) async {
        if ledger.lacked(reason) { configuration.onShortage(reason) }
        await common.relent()
        await full.relent()
    }

    /// Waits before the next attempt, up to 4 s in all: others may give back what is lacking.
    private func wait(
        after shortages: inout Int, _ reason: String, until deadline: ContinuousClock.Instant?
    ) async throws(AttachmentError) {
        await starved(reason)
        shortages += 1
        let pause = Duration.milliseconds(100 << shortages) * Double.random(in: 0.5...1)
        guard shortages <= 4, deadline.map({ .now + pause < $0 }) ?? true, (try? await Task.sleep(for: pause)) != nil
        else { throw .outOfResources(reason: reason) }
    }

    /// Whether a zygote lives, or another can be started.
    public var isWorking: Bool {
        get async {
            if await full.isReady { return true }
            return await common.isWorking
        }
    }

    /// Ends all zygotes and processes, and waits until they are gone. Sources under way fail.
    public func shutdown() async {
        await common.close()
        await full.close()
    }

    // MARK: Steps

    private func zygotes(_ decoderSet: DecoderSet) -> ZygotePool {
        switch decoderSet {
        case .common: common
        case .full: full
        }
    }

    private func take(
        _ decoderSet: DecoderSet, for owner: Owner?, avoiding crashed: RunningZygote?
    ) async throws(CodecPoolError) -> (child: CodecChild, served: Int) {
        try await zygotes(decoderSet).take(
            for: configuration.sourcesPerProcess > 1 ? owner : nil, avoiding: crashed)
    }

    /// From the decision on.
    private func finish(
        _ conversation: Conversation, _ probeResult: ProbeResult, owner: Owner?, served: Int,
        decide: (ProbeResult) async throws(AttachmentError) -> CodecDecision,
        received: (RenditionReport) async throws(AttachmentError) -> Void
    ) async throws(AttachmentError) -> CodecResult {
        let child = conversation.child
        let decision: CodecDecision
        do {
            decision = try await decide(probeResult)
        } catch {
            child.kill()
            throw error
        }

        var granted: Int64 = 0
        if case .proceed = decision {
            do {
                granted = try await grant(probeResult.estimate, to: conversation)
            } catch {
                child.kill()
                throw error
            }
        }
        // What is granted is free again when the process is dead, which takes 73 ms for each GiB it touched.
        defer {
            if granted > 0 {
                if child.isAlive, !(owner != nil && served + 1 < configuration.sourcesPerProcess) {
                    Task.detached { [self, granted] in
                        _ = await child.dies(before: .now + .seconds(10))
                        takeBack(granted, from: conversation.turn)
                    }
                } else {
                    takeBack(granted, from: conversation.turn)
                }
            }
        }

        do {
            var ending: Ending?
            switch decision {
            case .stop: try await conversation.stop()
            case .proceed(let outputs):
                ending = try await conversation.render(
                    probeResult, outputs: outputs, granted: granted, received: received)
            }
            let remains = await release(child, owner: owner, served: served, until: conversation.finishBy)
            return CodecResult(
                probeResult: probeResult, ending: ending, cpuSeconds: remains?.cpuSeconds,
                peakMemory: remains?.peakMemory, processIsDead: !child.isAlive)
        } catch {
            switch error {
            case .crashed(let error):
                await zygotes(child.zygote.decoderSet).crashed(child.zygote)
                throw error
            case .starved(let reason):
                await starved(reason)
                throw .outOfResources(reason: reason)
            case .refused(let error):
                await letGo(of: child, after: error, owner: owner, served: served)
                throw error
            }
        }
    }

    /// Lets go of a process whose conversation ended early. One that was killed at its deadline takes 73 ms to die for each
    /// GiB it touched, for which there is no time.
    private func letGo(of child: CodecChild, after error: AttachmentError, owner: Owner?, served: Int) async {
        guard child.isAlive else { return }
        guard error.code == .deadlineExceeded else {
            await release(child, owner: owner, served: served, until: nil)
            return
        }
        awaitExit(of: child)
    }

    /// Notes what a process took when it has died.
    private func awaitExit(of child: CodecChild) {
        Task.detached { [ledger] in
            if await !child.dies(before: .now + .seconds(10)) { child.kill() }
            if let ending = await child.zygote.ending(of: child.id) { ledger.ended(ending) }
        }
    }

    /// Waits for the memory that the renditions are expected to need.
    private func grant(_ estimate: Estimate, to conversation: Conversation) async throws(AttachmentError) -> Int64 {
        let most = min(conversation.order.ceilings.memory, configuration.memory)
        guard estimate.memory <= most else {
            throw .tooMuchMemory(needed: estimate.memory, granted: most)
        }
        // An estimate is one: a quarter more, and what a small source needs at the least.
        let wanted = min(most, estimate.memory + estimate.memory / 4 + 64 << 20)
        func late() -> AttachmentError {
            .deadlineExceeded(seconds: conversation.started.duration(to: .now).inSeconds)
        }
        // What sources may have is asked for before the rest, so that none that has of it waits for this one.
        let shared = max(0, wanted - (configuration.memory - configuration.sourceMemory))
        if shared > 0 {
            guard await sourceMemory.acquire(shared, until: conversation.deadline) == .granted else { throw late() }
        }
        defer { if shared > 0 { sourceMemory.release(shared) } }
        let isCostly = conversation.turn == .costly
        let share = min(wanted, configuration.costlyMemory)
        if isCostly {
            guard await costlyMemory.acquire(share, until: conversation.deadline) == .granted else { throw late() }
        }
        let isPatient = conversation.turn != .prompt
        guard await memory.acquire(wanted, until: conversation.deadline, patiently: isPatient) == .granted else {
            if isCostly { costlyMemory.release(share) }
            throw late()
        }
        ledger.granted(wanted)
        return wanted
    }

    private func takeBack(_ granted: Int64, from turn: Turn) {
        ledger.granted(-granted)
        memory.release(granted)
        if turn == .costly { costlyMemory.release(min(granted, configuration.costlyMemory)) }
    }

    /// Lets go of a process that was given a source beyond its decoder set; its end isn't waited for.
    private func pass(_ child: CodecChild, owner: Owner?, served: Int) async {
        if await keeps(child, for: owner, served: served) { return }
        child.packets.hangUp()
        awaitExit(of: child)
    }

    /// Keeps a process for its owner's next source, where it may serve one.
    private func keeps(_ child: CodecChild, for owner: Owner?, served: Int) async -> Bool {
        guard let owner, served + 1 < configuration.sourcesPerProcess else { return false }
        await zygotes(child.zygote.decoderSet).keep(child, for: owner, served: served + 1)
        return true
    }

    /// Lets go of a process that did as it was told: it ends, or serves its owner's next source.
    ///
    /// - Parameter moment: Its end isn't waited for any longer.
    @discardableResult
    private func release(
        _ child: CodecChild, owner: Owner?, served: Int, until moment: ContinuousClock.Instant?
    ) async -> ProcessEnding? {
        if await keeps(child, for: owner, served: served) { return nil }
        child.packets.hangUp()
        // It has nothing left to do but to end.
        let patience = ContinuousClock.now + .seconds(2)
        if await !child.dies(before: min(patience, moment ?? patience)) {
            if patience <= .now { child.kill() }
            awaitExit(of: child)
            return nil
        }
        let ending = await child.zygote.ending(of: child.id)
        if let ending { ledger.ended(ending) }
        return ending
    }
}
