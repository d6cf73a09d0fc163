internal import AsyncHTTPClient
public import Stores
public import SatchelCore
internal import FoundationEssentials
internal import Ingest
internal import NIOCore
internal import NIOHTTP1
import Synchronization

/// Hears from other nodes what happens to the jobs that they carry out, for whoever follows one here.
///
/// It asks with a pass that only nodes of the same store can make, and believes nobody who can't prove to be one. Whatever
/// fails, the record tells how jobs come out.
public final class EventRelay: Sendable {
    public enum Update: Hashable, Sendable {
        case event(RelayedEvent)
        /// The node isn't heard, at first or any more. It is asked again.
        case lost
    }

    /// What is asked of a node, beneath its URL.
    public static let path = "/cluster/events"
    /// The header that proves who answers.
    public static let proofHeader = "Satchel-Node"
    /// A node that has nothing to tell sends a comment so often.
    public static let heartbeat: Duration = .seconds(5)

    /// Streams at once; who follows beyond these hears what records tell.
    private static let most = 1024
    /// Events that wait for a slow reader.
    private static let backlog = 256
    private static let connectLimit: Duration = .seconds(2)
    /// Without a word for so long, a node is asked anew.
    private static let patience = heartbeat * 3
    /// Of one answer; then the rest is asked for.
    private static let longest: Duration = .seconds(600)
    private static let firstPause: Duration = .milliseconds(200)
    private static let longestPause: Duration = .seconds(5)

    private let passes: KeyedPasses
    private let userAgent: String
    private let count = Mutex(0)

    public init(_ passes: KeyedPasses, userAgent: String) {
        self.passes = passes
        self.userAgent = userAgent
    }

    /// What another node tells of a job, until its end there or until nobody listens.
    ///
    /// - Parameter last: The last event that was heard, which may be any node's.
    public func follow(
        _ remote: RemoteAttempt, _ subscription: EventSubscription, after last: String?
    ) -> AsyncStream<Update> {
        let (heard, feed) = AsyncStream.makeStream(of: Update.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        guard let url = remote.url, begin() else {
            feed.yield(.lost)
            feed.finish()
            return heard
        }
        let asking = Task { [self] in
            await ask(url, remote.node, subscription, after: last, feed)
            count.withLock { $0 -= 1 }
            feed.finish()
        }
        feed.onTermination = { _ in asking.cancel() }
        return heard
    }

    private func begin() -> Bool {
        count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
    }

    private func ask(
        _ url: String, _ node: String, _ subscription: EventSubscription, after last: String?,
        _ feed: AsyncStream<Update>.Continuation
    ) async {
        let listening = Listening(after: last)
        var pause = Self.firstPause
        while !Task.isCancelled {
            let hasEnded = try? await answer(of: node, at: url, to: subscription, listening) { feed.yield(.event($0)) }
            if hasEnded ?? false { return }
            feed.yield(.lost)
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// - Returns: Whether the job's end was told.
    private func answer(
        of node: String, at text: String, to subscription: EventSubscription, _ listening: Listening,
        _ tell: @escaping @Sendable (RelayedEvent) -> Void
    ) async throws -> Bool {
        guard let pass = passes.pass(for: subscription, to: node) else { throw RelayFailure() }
        let url = try FetchURL(text + Self.path)
        // Who wrote the URL down reads and writes all records: no other address is safer.
        let place = url.hostText.contains(":") ? "[\(url.hostText)]:\(url.port)" : "\(url.hostText):\(url.port)"
        let client = GuardedClient(
            guardedBy: FetchGuard(allowing: [try FetchAllowance(place)]), userAgent: userAgent, resolve: nil)
        listening.heard()
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await client.send(to: url, connect: Self.connectLimit, time: Self.longest) { request in
                    request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(pass.text)")
                    if let last = listening.last { request.headers.replaceOrAdd(name: "Last-Event-ID", value: last) }
                } read: { response in
                    guard response.status == .ok, response.headers.first(name: Self.proofHeader) == pass.proof else {
                        throw RelayFailure()
                    }
                    var frames = EventFrames()
                    for try await piece in response.body {
                        listening.heard()
                        for event in try frames.add(piece.readableBytesView) {
                            listening.heard(event)
                            tell(event)
                            if event.name == "finished" { return true }
                        }
                    }
                    return false
                }
            }
            group.addTask {
                let end = ContinuousClock.now + Self.longest
                while .now < end, .now - listening.heardAt < Self.patience {
                    try await Task.sleep(for: .seconds(1))
                }
                throw RelayFailure()
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }
}

/// How far somebody has heard a node.
private final class Listening: Sendable {
    private let state: Mutex<(last: String?, heardAt: ContinuousClock.Instant)>

    init(after last: String?) {
        state = Mutex((last, .now))
    }

    var last: String? { state.withLock { $0.last } }
    var heardAt: ContinuousClock.Instant { state.withLock { $0.heardAt } }

    func heard(_ event: RelayedEvent? = nil) {
        state.withLock { state in
            state.heardAt = .now
            if let event { state.last = event.id }
        }
    }
}

/// An event of a job as another node tells it.
public struct RelayedEvent: Hashable, Sendable {
    public var name: String
    public var id: String
    /// A JSON object, on one line.
    public var data: String
}

/// A node can't be reached, answers what it shouldn't, or is none.
struct RelayFailure: Error {}

/// Takes a stream of events apart, as nodes write it: `event`, `id` and `data`, each on a line of its own.
struct EventFrames {
    /// Bytes of one event.
    static let longest = 64 << 10
    /// Others are a later version's, and passed over.
    private static let names: Set = ["accepted", "started", "stage", "progress", "rendition", "postponed", "finished"]

    private var rest: [UInt8] = []

    /// The events that end with these bytes.
    ///
    /// - Throws: Where it is no such stream.
    mutating func add(_ bytes: some Sequence<UInt8>) throws(RelayFailure) -> [RelayedEvent] {
        var events: [RelayedEvent] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n"), rest.last == byte else {
                rest.append(byte)
                guard rest.count <= Self.longest else { throw RelayFailure() }
                continue
            }
            if let event = try Self.event(rest) { events.append(event) }
            rest = []
        }
        return events
    }

    /// Nil for a comment.
    private static func event(_ frame: [UInt8]) throws(RelayFailure) -> RelayedEvent? {
        guard let text = String(validating: frame, as: UTF8.self) else { throw RelayFailure() }
        var fields: [Substring: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix(":") {
            let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, fields[parts[0]] == nil else { throw RelayFailure() }
            fields[parts[0]] = String(parts[1])
        }
        if fields.isEmpty { return nil }
        guard let name = fields["event"], let id = fields["id"], let data = fields["data"], fields.count == 3,
            id.utf8.count <= 64, id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), data.hasPrefix("{"),
            data.hasSuffix("}")
        else { throw RelayFailure() }
        return names.contains(name) ? RelayedEvent(name: name, id: id, data: data) : nil
    }
}
