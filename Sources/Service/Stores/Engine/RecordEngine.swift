internal import SatchelCore
internal import Postgres

/// Carries out the transactions of a store, and knows this opening of it and others.
///
/// A body may run several times. It changes nothing but the transaction, and blocks a thread of the engine. A write that was handed
/// over runs to its end, whatever becomes of the calling task.
protocol RecordEngine: Sendable {
    /// This opening of the store, and what it knows of others.
    var node: any StoreNode { get }

    /// Reads from one snapshot, at the store's time.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Value
    ) async throws -> Value

    /// Writes in one transaction; durable on return.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Written<Value>
    ) async throws -> Value

    /// Asks one statement that changes nothing, as cheaply as that can be.
    ///
    /// - Parameter statement: Made with the store's time, where that isn't the server's.
    func look<Value: Sendable>(
        _ statement: @escaping @Sendable (Instant?) throws -> Statement,
        _ answer: @escaping @Sendable (RecordRows) throws -> Value
    ) async throws -> Value

    /// Sends statements that are one transaction, as cheaply as that can be. They may be carried out twice.
    ///
    /// - Parameter statements: Made with the store's time, where that isn't the server's.
    func send<Value: Sendable>(
        _ statements: @escaping @Sendable (Instant?) throws -> [Statement],
        _ answer: @escaping @Sendable ([RecordRows]) throws -> Value
    ) async throws -> Value

    /// Whether there is one writer at a time. Then gathering requests gains nothing, a look before a write blocks no other
    /// write, and garbage is removed without being recorded first.
    var hasOneWriter: Bool { get }

    /// The store's time, without asking.
    var time: Instant { get }

    /// What reads the clock within a statement.
    ///
    /// - Parameter value: The store's time, where the engine has no clock of its own.
    func clock(_ value: String) -> String

    /// The machine's clock, where the store's time may be ahead of it: what has an instant must not be due before that.
    var machineTime: Instant? { get }

    /// The sum of two histograms, bin by bin, of a row that is there and of one that is added.
    func sum(of column: String) -> String

    /// A number that rises with each revocation; nil if the engine does not count them.
    var revocations: UInt64? { get }

    /// How soon what another process did with the queue is seen.
    var pace: QueuePace { get }

    /// Tells others what a commit gave them to do.
    func committed(_ waste: RecordTransaction.Waste)

    /// Forgets nodes that have ended and have no jobs left.
    func forgetEndedNodes() async throws

    /// What only a database of many nodes has.
    var cluster: PostgresEngine? { get }

    /// What keeps blobs, as long as this node may write there.
    func guarding(_ blobs: any BlobStore) -> any BlobStore
}

/// What a write came to.
struct Written<Value: Sendable>: Sendable {
    var value: Value
    /// Whether access was taken back that others may have in a cache.
    var takesBack = false
}

/// An opening of the store, as roles see it.
protocol StoreNode: Sendable {
    /// New with each opening.
    var id: String { get }
    /// The row that this node writes of counts with several rows.
    var slot: Int { get }
    /// The row that this node writes of the number of all tenants' jobs.
    var countingSlot: Int { get }
    /// What this node fires before others do, and a number that tells it from the share that it had before.
    var share: (share: FiringShare, number: Int64) { get }
    /// After this time any node fires what the owning node has left.
    var firingPatience: Duration { get }
    /// This is nil for a single node, which remembers nothing and looks each time.
    var queue: QueueMemory? { get }

    /// A condition: whether the node with an id lives.
    func lives(_ id: String) -> String
    /// Lives from now on. To be called before anything is done that others look at the node for.
    func live() async throws(AttachmentError)

    /// Whether it is known that others know that a run lives here.
    func hasAnnounced(_ run: RunID) -> Bool
    /// Others know that a run lives here.
    func announced(_ run: RunID)

    /// Claims with these ids are about to be asked for.
    func expect(_ ids: [ClaimID], for duration: Duration)
    /// Forgets claims that were asked for and not given.
    func forget(_ ids: some Sequence<ClaimID>)
    /// The record had a claim when that was asked.
    func confirm(_ id: ClaimID, since: ContinuousClock.Instant, for duration: Duration)
    /// Whether it may take others' jobs of a queue now: when it has to be by the server's clock. Where that comes to nothing
    /// ``failedToRescue(in:)`` has to be told.
    func mayRescue(in run: String) -> ClosedRange<Instant>?
    func failedToRescue(in run: String)
    /// Calls `tell` each time when another node has left.
    func whenNodesLeave(_ tell: @escaping @Sendable () -> Void)
}

/// The answers of a single node.
extension StoreNode {
    var slot: Int { 0 }
    var countingSlot: Int { 0 }
    var share: (share: FiringShare, number: Int64) { (.whole, 0) }
    var firingPatience: Duration { .zero }
    var queue: QueueMemory? { nil }

    func hasAnnounced(_ run: RunID) -> Bool { false }
    func announced(_ run: RunID) {}
    func expect(_ ids: [ClaimID], for duration: Duration) {}
    func forget(_ ids: some Sequence<ClaimID>) {}
    func confirm(_ id: ClaimID, since: ContinuousClock.Instant, for duration: Duration) {}
    func mayRescue(in run: String) -> ClosedRange<Instant>? {
        Instant(milliseconds: .min)...Instant(milliseconds: .max)
    }
    func failedToRescue(in run: String) {}
    func whenNodesLeave(_ tell: @escaping @Sendable () -> Void) {}
}
