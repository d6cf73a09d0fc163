import SatchelCore
internal import Stores
import NIOCore

/// Content that was opened lately on one event loop, by the path that opened it. An entry is good while nothing was
/// taken back and it has not expired, so that a good one costs no look into the records and no opening of a file.
final class ContentCache {
    /// An entry, with its answer to the plainest request.
    final class Entry {
        let content: OpenContent
        /// Status line and headers of the whole content as they are written, as of that second.
        var plainHead: (second: Int, bytes: ByteBuffer)?
        fileprivate var usedAt: NIODeadline

        fileprivate init(_ content: OpenContent, usedAt: NIODeadline) {
            self.content = content
            self.usedAt = usedAt
        }
    }

    typealias Waiter = (Result<Entry?, any Error>) -> Void

    /// Entries at most, and so open files beside those that are being sent.
    private static let capacity = 512
    /// An entry that is not asked for is given up after this.
    private static let keptFor: TimeAmount = .seconds(10)

    private let loop: any EventLoop
    private let opener: ContentOpener
    private var entries: [String: Entry] = [:]
    private var waiters: [String: [Waiter]] = [:]
    /// Who waits to be told whether access was taken back, by its id.
    private var checks: [(content: OpenContent, then: (Bool?) -> Void)] = []
    private var isChecking = false

    init(loop: any EventLoop, opener: ContentOpener) {
        self.loop = loop
        self.opener = opener
    }

    var isEmpty: Bool { entries.isEmpty }

    var revocations: UInt64? { opener.service.records.revocations }

    /// What the path opens right now, where that is known.
    func entry(_ path: String) -> Entry? {
        guard let entry = entries[path] else { return nil }
        let now = NIODeadline.now()
        guard isGood(entry, at: now) else {
            entries[path] = nil
            return nil
        }
        entry.usedAt = now
        return entry
    }

    /// Finds out what the path opens; requests that come meanwhile get the same answer, where it can be told whether
    /// something was taken back since.
    func open(_ path: String, then waiter: @escaping Waiter) {
        guard revocations != nil else {
            return ask(path) { result in waiter(result.map { $0.map { Entry($0, usedAt: .now()) } }) }
        }
        if waiters[path] != nil {
            waiters[path]?.append(waiter)
            return
        }
        waiters[path] = [waiter]
        ask(path) { [self] result in opened(path, result) }
    }

    private func ask(_ path: String, then: @escaping (Result<OpenContent?, any Error>) -> Void) {
        // What is no content path is looked up all the same: it must not cost less.
        let parsed = ContentPath(path) ?? ContentPath(token: "", name: "")
        let box = NIOLoopBound(then, eventLoop: loop)
        Task { [opener, loop] in
            let result: Result<OpenContent?, any Error>
            do { result = .success(try await opener.open(parsed)) } catch { result = .failure(error) }
            loop.execute { box.value(result) }
        }
    }

    private func opened(_ path: String, _ result: Result<OpenContent?, any Error>) {
        let waiting = waiters.removeValue(forKey: path) ?? []
        let now = NIODeadline.now()
        let entry = result.map { content in content.map { Entry($0, usedAt: now) } }
        if case .success(let entry?) = entry {
            // Taken back while it was being opened: those who wait ask again.
            guard isGood(entry, at: now) else {
                for waiter in waiting { open(path, then: waiter) }
                return
            }
            if entries.count >= Self.capacity { giveUpOldest() }
            entries[path] = entry
        }
        for waiter in waiting { waiter(entry) }
    }

    private func isGood(_ entry: Entry, at now: NIODeadline) -> Bool {
        guard now < entry.content.expires, let revocations else { return false }
        return entry.content.revocations == revocations
    }

    private func giveUpOldest() {
        let oldest = entries.sorted { $0.value.usedAt < $1.value.usedAt }.prefix(Self.capacity / 8)
        for (path, _) in oldest { entries[path] = nil }
    }

    /// Gives up what is no longer good, or not asked for any more.
    func tidy(at now: NIODeadline) {
        guard !entries.isEmpty else { return }
        entries = entries.filter { isGood($0.value, at: now) && now - $0.value.usedAt < Self.keptFor }
    }

    /// Whether bytes of opened content may go on being sent; nil where that can't be told now. One call asks for all who
    /// wait.
    func check(_ content: OpenContent, then: @escaping (Bool?) -> Void) {
        checks.append((content, then))
        checkWaiting()
    }

    private func checkWaiting() {
        guard !isChecking, !checks.isEmpty else { return }
        isChecking = true
        let asked = checks
        checks = []
        let ids = Set(asked.map(\.content.access.id))
        let box = NIOLoopBound((cache: self, asked: asked), eventLoop: loop)
        Task { [opener, loop] in
            let ends = try? await opener.service.records.stillOpen(ids)
            loop.execute {
                let (cache, asked) = box.value
                cache.isChecking = false
                for (content, then) in asked { then(ends.map { content.mayContinue(until: $0[content.access.id]) }) }
                cache.checkWaiting()
            }
        }
    }
}
