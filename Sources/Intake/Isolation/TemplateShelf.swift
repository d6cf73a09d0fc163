import Attachments
import FoundationEssentials

/// Keeps a template of one repertoire at work, another in reserve, and processes ready.
actor TemplateShelf {
    private let configuration: CodecPoolConfiguration
    private let repertoire: Repertoire
    private var templates: [RunningTemplate] = []
    private var retired: [RunningTemplate] = []
    private var spares: [ObjectIdentifier: [CodecChild]] = [:]
    /// Forks under way, by template.
    private var expected: [ObjectIdentifier: Int] = [:]
    /// Between two sources of one owner, oldest first.
    private var kept: [(owner: CodecPool.Owner, child: CodecChild, served: Int)] = []
    private var starting: Task<RunningTemplate, any Error>?
    private var isShut = false
    private let ledger: CodecLedger

    init(_ configuration: CodecPoolConfiguration, _ repertoire: Repertoire, _ ledger: CodecLedger) {
        self.configuration = configuration
        self.repertoire = repertoire
        self.ledger = ledger
    }

    var isReady: Bool { !isShut && templates.contains { !$0.isDead } }

    /// The first template at work.
    func open() async throws(CodecPoolError) -> SandboxReport {
        let template = try await newTemplate()
        await fill(template)
        restock()
        return template.report
    }

    /// A process for a source, and how many it served before.
    ///
    /// - Parameter avoided: The template in whose process the source crashed before.
    func take(
        for owner: CodecPool.Owner?, avoiding avoided: RunningTemplate?
    ) async throws(CodecPoolError) -> (child: CodecChild, served: Int) {
        if let owner, let index = kept.lastIndex(where: { $0.owner == owner && $0.child.template !== avoided }) {
            let (_, child, served) = kept.remove(at: index)
            if child.isAlive { return (child, served) }
        }
        while !isShut {
            sweep()
            let template: RunningTemplate
            if let present = templates.first(where: { $0 !== avoided }) {
                template = present
            } else {
                template = try await newTemplate()
            }
            let child: CodecChild
            if let spare = spares[ObjectIdentifier(template)]?.popLast() {
                guard spare.isAlive else { continue }
                child = spare
            } else if let fork = await template.fork() {
                child = fork
            } else {
                // It died, or the kernel refuses: a second template decides which.
                template.hangUp()
                templates.removeAll { $0 === template }
                continue
            }
            template.countTaken()
            renew(template)
            Task { await self.refill() }
            return (child, 0)
        }
        throw .cannotStart(path: configuration.executable.path(percentEncoded: false), reason: "the pool is shut")
    }

    /// Whether a template lives, or another can be started.
    var isWorking: Bool {
        get async {
            if isReady { return true }
            sweep()
            guard !isShut else { return false }
            do {
                _ = try await newTemplate()
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

    /// A process of `template` crashed: the reserve takes over, which is started where there was no work for one yet, so
    /// that whoever tries the same source again gets another address layout.
    func crashed(_ template: RunningTemplate) async {
        if configuration.sourcesBeforeReserve > 0, templates.count == 1, templates[0] === template {
            _ = try? await newTemplate()
        }
        guard templates.count > 1, templates[0] === template else { return }
        templates.swapAt(0, 1)
        Task { await self.refill() }
    }

    func close() async {
        isShut = true
        _ = try? await starting?.value
        for child in kept.map(\.child) + spares.values.joined() { child.kill() }
        kept = []
        spares = [:]
        let all = templates + retired
        templates = []
        retired = []
        for template in all { template.hangUp() }
        for template in all { await template.gone() }
    }

    // MARK: Stock

    private func newTemplate() async throws(CodecPoolError) -> RunningTemplate {
        let (configuration, repertoire) = (configuration, repertoire)
        let task = starting ?? Task { try await RunningTemplate.start(configuration, repertoire) }
        starting = task
        do {
            let template = try await task.value
            if starting == task {
                starting = nil
                ledger.templateStarted()
                if isShut {
                    template.hangUp()
                    retired.append(template)
                } else {
                    templates.append(template)
                }
            }
            return template
        } catch {
            if starting == task { starting = nil }
            throw error as? CodecPoolError
                ?? .cannotStart(
                    path: configuration.executable.path(percentEncoded: false), reason: "\(error)")
        }
    }

    /// Removes what is dead.
    private func sweep() {
        templates.removeAll(where: \.isDead)
        retired.removeAll(where: \.isDead)
        let living = Set(templates.map(ObjectIdentifier.init))
        for (template, children) in spares where !living.contains(template) {
            for child in children { child.kill() }
            spares[template] = nil
        }
        restock()
    }

    /// Has a template in reserve, as soon as there is work enough for it. Where none can be started, the next source that
    /// needs one is told why.
    private func restock() {
        guard !isShut, templates.count < 2, starting == nil else { return }
        if let only = templates.first, only.taken < configuration.sourcesBeforeReserve { return }
        Task { _ = try? await self.newTemplate() }
    }

    private func renew(_ template: RunningTemplate) {
        guard template.taken >= configuration.sourcesPerTemplate else { return }
        templates.removeAll { $0 === template }
        for child in spares.removeValue(forKey: ObjectIdentifier(template)) ?? [] { child.kill() }
        retired.append(template)
        template.retire()
        restock()
    }

    private func refill() async {
        guard let template = templates.first else { return }
        await fill(template)
    }

    /// Processes that are ready ahead of need: one for each codec. A shared one comes back, so that one more will do.
    private var stock: Int { configuration.sourcesPerProcess > 1 ? 1 : configuration.codecs }

    /// Forks until the stock is complete.
    private func fill(_ template: RunningTemplate) async {
        let key = ObjectIdentifier(template)
        while !isShut, templates.first === template,
            (spares[key]?.count ?? 0) + (expected[key] ?? 0) < stock
        {
            expected[key, default: 0] += 1
            let child = await template.fork()
            expected[key, default: 1] -= 1
            if expected[key] == 0 { expected[key] = nil }
            guard let child else { return }
            guard !isShut, templates.contains(where: { $0 === template }) else { return child.kill() }
            spares[key, default: []].append(child)
        }
    }
}
